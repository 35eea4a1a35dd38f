"""The serdes of a Samza job, as its properties file says them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from penstock.errors import SchemaError
from penstock.schema.codec.format import Format

# By the class's own name: its package has changed with the versions of Samza.
_CLASSES: Mapping[str, str] = {
    "ByteBufferSerde": "bytes",
    "ByteSerde": "bytes",
    "DoubleSerde": "double",
    "IntegerSerde": "int",
    "JsonSerde": "json",
    "JsonSerdeV2": "json",
    "LongSerde": "long",
    "NoOpSerde": "bytes",
    "StringSerde": "string",
}
_PARTS = {"key": "key", "msg": "value"}
_SERDE = re.compile(r"serializers\.registry\.(?P<name>[^.]+)\.class")
_STREAM = re.compile(
    r"(?:systems\.(?P<system>[^.]+)\.)?streams\.(?P<topic>.+)\.samza\.(?P<part>key|msg)\.serde"
)
_SYSTEM = re.compile(
    r"systems\.(?P<system>[^.]+)\.(?:default\.stream\.)?samza\.(?P<part>key|msg)\.serde"
)
_INPUTS = "task.inputs"
# Java takes a comment only for a whole line; people write them after a value as well.
_COMMENT = re.compile(r"\s+[#!].*")
_PAIR = re.compile(r"\s*(?P<name>[^=:\s]+)\s*[=:\s]\s*(?P<value>.*)")


@dataclass(frozen=True, slots=True)
class SamzaTables:
    """Serdes by name, and by topic those of its keys and values, as our own tables say them."""

    serdes: Mapping[str, str]
    topics: Mapping[str, Mapping[str, str]]


def samza_tables(text: str) -> SamzaTables:
    """Read the serdes of a properties file; all else in it is for others."""
    pairs = dict(_pairs(text))
    serdes: dict[str, str] = {}
    topics: dict[str, dict[str, str]] = {}
    for topic, part, serde in [*_by_system(pairs), *_by_stream(pairs)]:
        topics.setdefault(topic, {})[part] = serde
    for name, value in pairs.items():
        found = _SERDE.fullmatch(name)
        if found is not None:
            serdes[found["name"]] = class_format(value).name
    return SamzaTables(serdes, topics)


def class_format(name: str) -> Format:
    """Give the format of a serde's class, or its factory's."""
    own = name.strip().rpartition(".")[2].removesuffix("Factory")
    if own not in _CLASSES:
        raise SchemaError(
            "SERDE_CLASS",
            f'serde class "{name}" is none that Penstock knows',
            hint=f"It knows {', '.join(_CLASSES)}, of any package; give a format for others.",
        )
    return Format(_CLASSES[own])


def _by_stream(pairs: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, value in pairs.items():
        found = _STREAM.fullmatch(name)
        if found is not None:
            yield found["topic"], _PARTS[found["part"]], value


def _by_system(pairs: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Give what a system says for all of its streams that the job reads."""
    inputs = [item.strip().partition(".") for item in pairs.get(_INPUTS, "").split(",")]
    for name, value in pairs.items():
        found = _SYSTEM.fullmatch(name)
        for system, dot, topic in inputs if found is not None else ():
            if dot and found is not None and system == found["system"]:
                yield topic, _PARTS[found["part"]], value


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in re.sub(r"\\\r?\n\s*", "", text).splitlines():
        found = _PAIR.fullmatch(line)
        if found is not None and found["name"][0] not in "#!":
            yield found["name"], _COMMENT.sub("", found["value"]).strip()
