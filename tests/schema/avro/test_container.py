from __future__ import annotations

import io
import json
import random
import zlib
from typing import Any

import fastavro
import polars as pl
import pytest

from penstock.errors import SchemaError
from penstock.schema.avro import compression
from penstock.schema.avro.compression import expanded
from penstock.schema.avro.container import ContainerReader, ContainerWriter, container_bytes
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.parse import parse_avro

SAID = {
    "type": "record",
    "name": "n.R",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}],
}
SCHEMA = parse_avro(SAID)
ROWS: list[dict[str, Any]] = [
    {"id": n, "name": None if n % 3 == 0 else f"name {n}"} for n in range(2_500)
]
CODECS = ("null", "deflate", "snappy", "zstandard", "bzip2", "xz")


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_gives_back_what_was_written(codec: str) -> None:
    found = ContainerReader(container_bytes(SCHEMA, ROWS, codec=codec))
    assert found.schema == SCHEMA
    assert found.header.codec == codec
    assert list(found) == ROWS


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_fastavro_reads_our_files_and_we_read_its(codec: str) -> None:
    ours = container_bytes(SCHEMA, ROWS, codec=codec)
    assert list(fastavro.reader(io.BytesIO(ours))) == ROWS
    theirs = io.BytesIO()
    fastavro.writer(theirs, dict(SAID), ROWS, codec=codec)
    theirs.seek(0)
    assert list(ContainerReader(theirs)) == ROWS


@pytest.mark.parametrize("codec", ["deflate", "snappy"])
def test_polars_reads_our_files(codec: str) -> None:
    ours = container_bytes(SCHEMA, ROWS, codec=codec)
    assert pl.read_avro(io.BytesIO(ours)).to_dicts() == ROWS


def test_we_read_the_snappy_files_of_polars() -> None:
    theirs = io.BytesIO()
    pl.DataFrame(ROWS).write_avro(theirs, compression="snappy", name="R")
    assert [dict(row) for row in ContainerReader(theirs.getvalue())] == ROWS


def test_a_file_is_read_with_a_readers_schema() -> None:
    reader = {**SAID, "fields": [{"name": "id", "type": "double"}]}
    found = ContainerReader(container_bytes(SCHEMA, ROWS[:2]), parse_avro(reader))
    assert list(found) == [{"id": 0.0}, {"id": 1.0}]


def test_a_file_tells_what_was_noted_in_it() -> None:
    out = io.BytesIO()
    writer = ContainerWriter(out, SCHEMA, metadata={"who": b"me"})
    writer.append(ROWS[0])
    writer.flush()
    writer.flush()
    found = ContainerReader(out.getvalue())
    assert found.header.metadata["who"] == b"me"
    assert json.loads(found.header.text)["name"] == "R"
    assert list(found) == ROWS[:1]


def test_a_value_that_does_not_fit_leaves_the_file_as_it_is() -> None:
    out = io.BytesIO()
    writer = ContainerWriter(out, SCHEMA)
    writer.append(ROWS[0])
    with pytest.raises(SchemaError, match="VALUE_ENCODE"):
        writer.append({"id": "x", "name": None})
    writer.flush()
    assert list(ContainerReader(out.getvalue())) == ROWS[:1]


def _meta(**said: bytes) -> bytes:
    meta = parse_avro({"type": "map", "values": "bytes"})
    named = {f"avro.{name}": value for name, value in said.items()}
    return b"Obj\x01" + DatumWriter(meta).encode(named) + b"s" * 16


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not begin"),
        (b"PAR1", "does not begin"),
        (b"Obj\x01\x02", "says to have None bytes"),
        (b"Obj\x01\x02\x08a", "ends too early"),
        (b"Obj\x01" + b"\xff" * 11, "more than 64 bits"),
        (_meta(codec=b"null"), "does not say its schema"),
        (_meta(schema=b"\xff"), "no text"),
        (_meta(schema=b'"int"', codec=b"rar"), 'compression "rar"'),
        (_meta(schema=b'"int"') + b"\x02", "1 values in None bytes"),
        (_meta(schema=b'"int"') + b"\x01\x00", "-1 values"),
        (_meta(schema=b'"int"') + b"\x02" + b"\xfe\xff\xff\xff\xff\x01", "values in"),
        (_meta(schema=b'"int"') + b"\x02\x02\x02" + b"t" * 16, "marker"),
        (_meta(schema=b'"int"', codec=b"deflate") + b"\x02\x02\x02" + b"s" * 16, "a block"),
        (_meta(schema=b'"int"', codec=b"snappy") + b"\x02\x0a\x02abcd" + b"s" * 16, "expanded"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(SchemaError, match="AVRO_CONTAINER") as caught:
        list(ContainerReader(data))
    assert why in str(caught.value)


def test_a_block_with_more_values_than_it_has_room_for_is_refused() -> None:
    data = _meta(schema=b'"null"') + b"\xfe\xff\xff\xff\xff\xff\xff\x01\x00" + b"s" * 16
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        list(ContainerReader(data))


@pytest.mark.parametrize("codec", CODECS[1:])
def test_a_block_that_grows_beyond_all_bounds_is_refused(
    codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = compression.compression(codec)
    block = how.compress(bytes(100_000))
    monkeypatch.setattr(compression, "MOST_BLOCK", 50_000)
    with pytest.raises(SchemaError, match="AVRO_CONTAINER"):
        expanded(block, how)


def test_a_wrong_checksum_is_found() -> None:
    how = compression.compression("snappy")
    block = how.compress(b"abc")[:-4] + zlib.crc32(b"abd").to_bytes(4, "big")
    with pytest.raises(SchemaError, match="checksum"):
        expanded(block, how)


@pytest.mark.parametrize("codec", CODECS)
def test_damaged_files_give_values_or_an_error(codec: str) -> None:
    data = container_bytes(SCHEMA, ROWS[:20], codec=codec, sync=b"s" * 16)
    chance = random.Random(6)
    codes = set()
    for _ in range(150):
        damaged = bytearray(data[: chance.randrange(1, len(data) + 1)])
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            list(ContainerReader(bytes(damaged)))
        except SchemaError as error:
            codes.add(error.code)
    assert codes <= {"AVRO_BYTES", "AVRO_CONTAINER", "AVRO_SCHEMA"}
