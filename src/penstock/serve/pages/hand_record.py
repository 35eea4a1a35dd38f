"""A record that somebody writes by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass

from penstock.errors import RecordError
from penstock.log.port import Log
from penstock.log.producer import Producer
from penstock.log.record import Headers, Value
from penstock.text.json_row import parse_row


@dataclass(frozen=True, slots=True)
class HandRecord:
    """What was typed: a value, `deletes` instead of one, a key, headers `name=value` by line."""

    value: str = ""
    key: str = ""
    headers: str = ""
    partition: int | None = None
    deletes: bool = False


def append_record(log: Log, topic: str, typed: HandRecord) -> tuple[int, int]:
    """Append what was typed, and give its partition and offset."""
    producer = Producer(log)
    try:
        delivery = producer.send(
            topic,
            None if typed.deletes else _value(log, topic, typed.value),
            key=typed.key.encode() if typed.key else None,
            headers=_headers(typed.headers),
            partition=typed.partition,
        )
        producer.flush()
        receipt = delivery.result()
    finally:
        producer.close()
    assert receipt.offset is not None, "a record that was flushed has its place"
    return receipt.partition, receipt.offset


def _value(log: Log, topic: str, text: str) -> Value:
    schema = log.topic(topic).schema
    if schema is None:
        return text.encode()
    try:
        document = json.loads(text)
        if not isinstance(document, dict):
            raise RecordError(
                "RECORD_TYPED", "the value is not a JSON object", hint=_columns(schema.names)
            )
        return parse_row(document, schema)
    except ValueError as error:
        raise RecordError(
            "RECORD_TYPED", f"the value {_why(error)}", hint=_columns(schema.names)
        ) from None


def _why(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error}"
    return str(error)


def _columns(names: list[str]) -> str:
    return f"Write a JSON object with the columns {', '.join(names)}."


def _headers(text: str) -> Headers:
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise RecordError(
                "RECORD_TYPED",
                f'header "{line}" is not of the form name=value',
                hint="Write one header a line, such as source=web.",
            )
        found.append((name.strip(), value.strip().encode()))
    return tuple(found)
