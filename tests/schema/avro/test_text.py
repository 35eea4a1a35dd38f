from __future__ import annotations

import json

import pytest

from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.text import Algorithm, canonical_form, fingerprint, schema_text

FULL = {
    "type": "record",
    "name": "n.R",
    "doc": "All of it.",
    "aliases": ["n.Old"],
    "fields": [
        {
            "name": "f",
            "type": {
                "type": "fixed",
                "name": "F",
                "namespace": "",
                "size": 4,
                "logicalType": "decimal",
                "precision": 4,
                "scale": 2,
            },
            "default": "abcd",
            "aliases": ["g"],
            "doc": "One.",
        },
        {"name": "again", "type": ["null", "F"], "default": None},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}},
        {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": "n.R"}}},
    ],
}


def test_the_text_of_a_schema_says_all_that_it_is() -> None:
    schema = parse_avro(FULL)
    again = parse_avro(schema_text(schema))
    assert again == schema
    assert again.types == schema.types


def test_an_error_stays_one_in_the_text_and_is_a_record_in_the_form() -> None:
    schema = parse_avro({"type": "error", "name": "R", "fields": []})
    assert json.loads(schema_text(schema))["type"] == "error"
    assert canonical_form(schema) == '{"name":"R","type":"record","fields":[]}'


def test_the_canonical_form_keeps_only_what_bytes_depend_on() -> None:
    assert canonical_form(parse_avro(FULL)) == (
        '{"name":"n.R","type":"record","fields":['
        '{"name":"f","type":{"name":"F","type":"fixed","size":4}},'
        '{"name":"again","type":["null","F"]},'
        '{"name":"e","type":{"name":"n.E","type":"enum","symbols":["A"]}},'
        '{"name":"t","type":"long"},'
        '{"name":"m","type":{"type":"map","values":{"type":"array","items":"n.R"}}}]}'
    )


def test_types_of_other_schemas_are_told_in_full_once() -> None:
    known = parse_avro({"type": "fixed", "name": "F", "size": 1}).types
    fields = [{"name": "a", "type": "F"}, {"name": "b", "type": "F"}]
    schema = parse_avro({"type": "record", "name": "R", "fields": fields}, known)
    alone = parse_avro(schema_text(schema))
    assert list(alone.types) == ["R", "F"]
    assert canonical_form(alone) == canonical_form(schema)


@pytest.mark.parametrize(
    ("algorithm", "digest"),
    [
        ("CRC-64-AVRO", "8f5c393f1ad57572"),
        ("MD5", "ef524ea1b91e73173d938ade36c1db32"),
        ("SHA-256", "3f2b87a9fe7cc9b13835598c3981cd45e3e355309e5090aa0933d7becb6fba45"),
    ],
)
def test_the_fingerprints_of_int_are_those_of_the_specification(
    algorithm: Algorithm, digest: str
) -> None:
    assert fingerprint(parse_avro('{"type": "int"}'), algorithm).hex() == digest
