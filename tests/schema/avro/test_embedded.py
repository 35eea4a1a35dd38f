from __future__ import annotations

from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.embedded import embed, embed_bodies, embedded_values, split_embedded
from penstock.schema.avro.parse import parse_avro

SAID = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
SCHEMA = parse_avro(SAID)


def test_a_reader_without_a_registry_reads_a_message() -> None:
    message = embed(SCHEMA, {"a": 1}, {"a": 2})
    assert embedded_values(message) == [{"a": 1}, {"a": 2}]


def test_a_message_is_read_with_a_readers_schema() -> None:
    reader = {**SAID, "fields": [{"name": "b", "type": "string", "default": "x"}]}
    assert embedded_values(embed(SCHEMA, {"a": 1}), parse_avro(reader)) == [{"b": "x"}]


def test_equal_values_are_equal_bytes() -> None:
    assert embed(SCHEMA, {"a": 1}) == embed(parse_avro(SAID), {"a": 1})


def test_a_message_is_its_schema_and_the_bytes_of_its_values() -> None:
    message = embed(SCHEMA, {"a": 1})
    parts = split_embedded(message)
    assert parts.count == 1
    assert DatumReader.of(parse_avro(parts.text)).decode(parts.body) == {"a": 1}
    assert embed_bodies(SCHEMA, [parts.body, b"\x04"]) == [message, embed(SCHEMA, {"a": 2})]
