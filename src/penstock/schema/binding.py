"""Serdes: formats that configuration gives a name, and the topics that are bound to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penstock.errors import ConfigError, SchemaError, did_you_mean
from penstock.schema.codec.codecs import format_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.subject import Part, with_subject
from penstock.schema.samza import class_format, samza_tables

Table: TypeAlias = Mapping[str, object]

PROPERTIES = "properties"
"""The entry of `[serdes]` that names a Samza job's own configuration."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The formats that a topic's keys and values are bound to."""

    key: Format | None = None
    value: Format | None = None


Bindings: TypeAlias = Mapping[str, Bound]
"""Formats by topic."""


def bindings_of(serdes: Table, topics: Table) -> Bindings:
    """Read `[serdes]`, formats by name, and `[topics.NAME]`, which name one for key and value.

    A topic may name a format outright. What a Samza job's properties say comes first, so that
    the tables themselves can say otherwise.
    """
    known, bound = dict(serdes), dict(topics)
    properties = known.pop(PROPERTIES, None)
    if isinstance(properties, str):
        found = samza_tables(_text_of(Path(properties)))
        known, bound = {**found.serdes, **known}, {**found.topics, **bound}
    return {topic: _bound(topic, table, known) for topic, table in bound.items()}


def serde_format(name: str, serdes: Table) -> Format:
    """Give the format of a serde by its name; a name that none has is one of a format."""
    told = serdes.get(name)
    if told is None:
        return _named_format(name, serdes)
    if isinstance(told, str):
        return _checked(f'serde "{name}"', lambda: format_of(told))
    if isinstance(told, Mapping) and all(isinstance(value, str | bool) for value in told.values()):
        return _checked(f'serde "{name}"', lambda: _of_table(name, told))
    raise ConfigError(
        "SERDE_CONFIG",
        f'serde "{name}" is {told!r}',
        hint=f'Write it as {name} = "json", or as a table with format = "json".',
    )


def _bound(topic: str, table: object, serdes: Table) -> Bound:
    parts: dict[str, Format] = {}
    if not isinstance(table, Mapping):
        raise _misbound(topic, table)
    for part, name in table.items():
        if part not in ("key", "value") or not isinstance(name, str):
            raise _misbound(topic, table)
        chosen: Part = "key" if part == "key" else "value"
        parts[part] = with_subject(serde_format(name, serdes), topic, chosen)
    return Bound(parts.get("key"), parts.get("value"))


def _of_table(name: str, told: Mapping[str, object]) -> Format:
    options = {key: _option(value) for key, value in told.items()}
    given, written = options.pop("class", None), options.pop("schema", None)
    named, subject = options.pop("format", None), options.pop("subject", None)
    if named is None and given is None:
        raise SchemaError(
            "FORMAT_NAME",
            f'serde "{name}" names neither a format nor a class',
            hint=f'Write it as {name} = {{ format = "json" }}.',
        )
    base = format_of(named) if named is not None else class_format(str(given))
    whole = base.with_options(**options)
    return Format(whole.name, whole.options, subject or base.subject, written)


def _option(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named_format(name: str, serdes: Table) -> Format:
    try:
        return format_of(name)
    except SchemaError as error:
        raise ConfigError(
            "SERDE_NAME",
            f'serde "{name}" does not exist',
            hint=did_you_mean(name, serdes) or error.hint,
        ) from error


def _checked(what: str, make: Callable[[], Format]) -> Format:
    try:
        return make()
    except SchemaError as error:
        raise ConfigError("SERDE_CONFIG", f"{what}: {error.fact}", hint=error.hint) from error


def _misbound(topic: str, table: object) -> ConfigError:
    return ConfigError(
        "SERDE_CONFIG",
        f'topic "{topic}" is bound to {table!r}',
        hint=f'Write [topics.{topic}] with value = "json", and key = "string" if keys have a'
        " format, too.",
    )


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "CONFIG_FILE",
            f'properties file "{file}" cannot be read: {error}',
            hint="Correct the path in [serdes] properties, or leave it out.",
        ) from error
