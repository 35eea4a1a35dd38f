"""Java's Avro library as a judge: one process for many schemas."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    Union,
)
from penstock.schema.avro.unions import Tagged, only_branch
from tests.schema.avro.judges.cases import Json

SOURCE = Path(__file__).with_name("Judge.java")


def missing() -> str:
    """Say what Java's judge lacks; nothing where it can be asked."""
    if shutil.which("java") is None:
        return "Java's Avro judges only where java is installed"
    return "" if any(_jars().glob("avro-1*.jar")) else "pyspark's jars have no Avro"


def _jars() -> Path:
    import pyspark  # noqa: PLC0415  # only for its jars

    return Path(str(pyspark.__file__)).parent / "jars"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What Java reads: a value, or why it cannot."""

    value: Any = None
    error: str | None = None


class JavaAvro:
    """Asks the judge."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, writer: str, reader: AvroSchema, text: str, data: list[bytes]) -> list[Verdict]:
        """Read values of a writer's schema as a reader's."""
        answer = self._ask(writer, text, data, blocks=False)
        return [
            Verdict(error=one["error"])
            if "error" in one
            else Verdict(_value(reader, reader.root, one["value"]))
            for one in answer["values"]
        ]

    def in_blocks(self, writer: str, data: list[bytes]) -> list[bytes]:
        """Give values with their arrays and maps in small blocks, each with its bytes."""
        return [
            bytes.fromhex(one) for one in self._ask(writer, writer, data, blocks=True)["blocked"]
        ]

    def _ask(self, writer: str, reader: str, data: list[bytes], *, blocks: bool) -> Json:
        question = {
            "writer": writer,
            "reader": reader,
            "data": [value.hex() for value in data],
            "blocks": blocks,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "refused" not in answer, answer["refused"]
        return answer


@contextmanager
def java_avro() -> Iterator[JavaAvro]:
    """Start the judge, and end it."""
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{_jars()}/*", str(SOURCE)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield JavaAvro(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=30)


def _value(schema: AvroSchema, node: Node, told: Json) -> Json:  # noqa: PLR0911  # one a kind
    """Give what Java told as the value that our own writer takes."""
    found = schema.follow(node)
    match found:
        case Primitive(name="float" | "double"):
            return struct.unpack(">d", bytes.fromhex(told[1:]))[0]
        case Primitive(name="bytes") | Fixed():
            return bytes.fromhex(told[1:])
        case Primitive(name="string") | Enum():
            return told[1:]
        case Primitive():
            return told
        case Array():
            return [_value(schema, found.items, item) for item in told]
        case Map():
            return {key: _value(schema, found.values, item) for key, item in told.items()}
        case Union():
            return _branch(schema, found, told)
        case Record():
            return {item.name: _value(schema, item.type, told[item.name]) for item in found.fields}


def _branch(schema: AvroSchema, union: Union, told: Json) -> Json:
    if told is None:
        return None
    name, inside = told
    branch = next(b for b in union.branches if getattr(b, "name", type(b).__name__.lower()) == name)
    value = _value(schema, branch, inside)
    return value if only_branch(union) is not None else Tagged(name, value)
