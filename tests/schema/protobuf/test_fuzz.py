from __future__ import annotations

import base64
import random

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.language import PROTOBUF
from penstock.schema.schema_id import header_of
from tests.schema.protobuf.test_codec import FULL, ORDER, codec, table
from tests.schema.protobuf.test_file import FULL as FULL_TEXT
from tests.schema.schemas_in_memory import SchemasInMemory

PLAIN = codec().encode(table(codec(), FULL)).to_pylist()[0]
PIECES = [b"\0", b"\xff" * 10, b"\x0a\xff\xff\xff\xff\x0f", b"\x08", b"\x0b" * 200, b"\x82\x01",
          b"\x52\x0a\x08" + b"\xff" * 8 + b"\x7f", b"\x80\x01" + b"\xff" * 9 + b"\x01",
          b"\x62\x0b\x0a\x09\x11" + b"\xff" * 8]  # fmt: skip


def hostile(chance: random.Random) -> bytes:
    """A good value that was cut, changed or stuffed; or nothing but noise."""
    start = header_of(1) + b"\0"
    if chance.random() < 0.2:
        return (b"", start)[chance.randrange(2)] + chance.randbytes(chance.randrange(40))
    value = bytearray(start + PLAIN)
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
    schemas = SchemasInMemory()
    schemas.add("orders-value", ORDER, "PROTOBUF")
    subject = codec_of(Format("protobuf", subject="orders-value"), None, schemas)
    for start in range(0, count, 1000):
        values = [hostile(chance) for _ in range(min(1000, count - start))]
        found = subject.decode(pa.array(values, pa.binary()))
        assert found.rows.num_rows == len(values)
        ids = found.rows.column("id").to_pylist()
        assert [n for n, one in enumerate(ids) if one is None] == sorted(found.failures)
        # What was read can be written, and then reads the same.
        rows = found.rows.take([n for n in range(len(values)) if n not in found.failures])
        again = subject.decode(subject.encode(rows))
        assert again.failures == {}
        # A number that is none equals nothing, itself included.
        assert str(again.rows.to_pylist()) == str(rows.to_pylist())


def test_no_bytes_make_it_fail() -> None:
    read_all(4000, seed=6)


def test_a_damaged_schema_is_a_schema_or_refused() -> None:
    chance = random.Random(6)
    forms = [FULL_TEXT, PROTOBUF.formatted(SchemaSource(FULL_TEXT), "serialized")]
    seen: set[str] = set()
    for turn in range(120):
        text = damaged(chance, forms[turn % 2], serialized=turn % 2 == 1)
        try:
            written = PROTOBUF.canonical(SchemaSource(text))
            PROTOBUF.incompatibilities(SchemaSource(written), SchemaSource(FULL_TEXT))
            seen.add("")
        except SchemaError as error:
            seen.add(error.code)
    assert seen == {"", "SCHEMA_TEXT"}


def damaged(chance: random.Random, text: str, *, serialized: bool) -> str:
    value = bytearray(base64.b64decode(text) if serialized else text.encode())
    at = chance.randrange(len(value))
    value[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(2))
    return base64.b64encode(value).decode() if serialized else value.decode(errors="replace")


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_no_bytes_of_a_million_make_it_fail() -> None:
    read_all(1_000_000, seed=7)
