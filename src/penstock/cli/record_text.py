"""How a record is shown: its value, some of its parts, JSON, or the bytes themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from penstock.errors import UsageError, did_you_mean
from penstock.text.byte_text import json_cell, json_value, line_text
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.log.record import Headers, Record, Value

PARTS = ("partition", "offset", "timestamp", "key", "headers")


def value_text(value: Value) -> str:
    """Show a value on one line: text, or JSON where the topic has columns; null for none."""
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=json_cell)
    return line_text(value, keep="\t")


def headers_text(headers: Headers) -> str:
    """Show headers as name=value words with commas between."""
    return ",".join(f"{line_text(name.encode())}={line_text(value)}" for name, value in headers)


def part_text(record: Record, part: str) -> str:
    """Show one part of a record."""
    match part:
        case "key":
            return line_text(record.key)
        case "timestamp":
            return time_text(record.timestamp)
        case "headers":
            return headers_text(record.headers)
        case _:
            return str(getattr(record, part))


def record_document(record: Record) -> dict[str, object]:
    """Give a record as the object that `--json` prints and `produce --json` reads."""
    value = record.value
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": json_value(record.key),
        "value": json_value(value) if isinstance(value, bytes) else value,
        "headers": [[name, json_value(content)] for name, content in record.headers],
    }


def json_line(document: object) -> bytes:
    """Write an object as one line of JSON."""
    return json.dumps(document, ensure_ascii=False, default=json_cell).encode() + b"\n"


def record_line(record: Record, parts: tuple[str, ...] = ()) -> bytes:
    """Write the parts asked for, tabs between, and the value last."""
    cells = [part_text(record, part) for part in parts]
    return "\t".join([*cells, value_text(record.value)]).encode() + b"\n"


def record_json(record: Record) -> bytes:
    """Write a whole record as one line of JSON."""
    return json_line(record_document(record))


def record_bytes(record: Record) -> bytes:
    """Write the value exactly, and a newline."""
    value = record.value
    if isinstance(value, Mapping):
        return json_line(value)
    return (value or b"") + b"\n"


def line_maker(parts: str | None, *, json: bool, raw: bool) -> Callable[[Record], bytes]:
    """Choose how records are written; two ways at once are refused."""
    if (parts is not None) + json + raw > 1:
        raise UsageError(
            "OPTIONS_CONFLICT",
            "--show, --json and --raw are three ways to print a record",
            hint="Give one of them.",
        )
    if json:
        return record_json
    if raw:
        return record_bytes
    chosen = parse_parts(parts or "")
    return lambda record: record_line(record, chosen)


def parse_parts(text: str) -> tuple[str, ...]:
    """Read a list such as `key,offset`; a misspelt part is named and corrected."""
    chosen = tuple(word for word in text.replace(" ", "").split(",") if word)
    for part in chosen:
        if part not in PARTS:
            raise UsageError(
                "PART_NAME",
                f'a record has no part "{part}" to show',
                hint=did_you_mean(part, PARTS) or f"Parts: {', '.join(PARTS)}.",
            )
    return chosen
