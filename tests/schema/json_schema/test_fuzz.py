from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.json_schema.columns import columns_of
from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.json_schema.language import JSON_SCHEMA
from penstock.schema.language import SchemaSource
from penstock.schema.schema_id import header_of
from tests.schema.json_schema.test_codec import FULL, ORDER, registered

GOOD = header_of(1) + json.dumps(FULL).encode()
PIECES = [b"\0", b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"1e999", b"\xff", b"\\u0000",
          b"\\ud800", b'{"id":', b"-", b"NaN", b"9" * 30, b" " * 9, b"[" * 2000]  # fmt: skip


def hostile(chance: random.Random) -> bytes:
    """A good value that was cut, changed or stuffed; or nothing but noise."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(40))
    value = bytearray(GOOD)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(value) + 1)
        match chance.randrange(4):
            case 0:
                del value[at : at + chance.randrange(1, 9)]
            case 1:
                value[at:at] = chance.choice(PIECES)
            case 2:
                value[at : at + 1] = chance.randbytes(1)
            case _:
                del value[at:]
    return bytes(value)


def read_all(count: int, seed: int) -> None:
    chance = random.Random(seed)
    schemas = registered(ORDER)
    plain = codec_of(Format("json_schema", subject="orders-value"), None, schemas)
    judged = codec_of(
        Format("json_schema", subject="orders-value").with_options(validate="true"), None, schemas
    )
    for start in range(0, count, 500):
        values = [hostile(chance) for _ in range(min(500, count - start))]
        for codec in (plain, judged):
            found = codec.decode(pa.array(values, pa.binary()))
            assert found.rows.num_rows == len(values)
            ids = found.rows.column("id").to_pylist()
            assert all(ids[place] is None for place in found.failures)
            # What was read can be written, and then reads the same.
            kept = [n for n, one in enumerate(ids) if n not in found.failures and one is not None]
            rows = found.rows.take(kept)
            again = codec.decode(codec.encode(rows)) if codec is plain else None
            assert again is None or (again.failures, again.rows) == ({}, rows)


def test_no_bytes_make_it_fail() -> None:
    read_all(2000, seed=6)


def test_a_schema_with_anything_anywhere_is_a_schema_or_refused() -> None:
    chance = random.Random(6)
    anything = [None, True, 0, "", "#", [], {}, ["a", "a"], {"$ref": "#"}, "(", {"type": "null"}]
    words = ["$ref", "items", "prefixItems", "not", "const", "dependentRequired", "type", "anyOf"]
    good = SchemaSource(json.dumps(ORDER))
    seen: set[str] = set()
    for _ in range(400):
        schema = json.loads(json.dumps(ORDER))
        where = chance.choice([schema, *schema["properties"].values()])
        where[chance.choice([*where, *words])] = chance.choice(anything)
        source = SchemaSource(json.dumps(schema))
        try:
            JSON_SCHEMA.incompatibilities(source, good)
            JSON_SCHEMA.incompatibilities(good, source)
            columns_of(json_schema_document(source))
            seen.add("")
        except SchemaError as error:
            seen.add(error.code)
    assert seen == {"", "SCHEMA_TEXT", "SCHEMA_RECURSIVE"}


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_no_bytes_of_a_million_make_it_fail() -> None:
    read_all(1_000_000, seed=7)
