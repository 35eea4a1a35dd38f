from __future__ import annotations

import math

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.binary import ByteReader, float_bytes, long_bytes, narrowed


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (-64, "7f"),
        (64, "8001"),
        (8192, "808001"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_whole_numbers_are_seven_bits_a_byte(value: int, data: str) -> None:
    assert long_bytes(value).hex() == data
    source = ByteReader(bytes.fromhex(data))
    assert source.read_long() == value
    source.end()


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("", ByteReader.read_long),
        ("80", ByteReader.read_long),
        ("ff" * 10 + "01", ByteReader.read_long),
        ("ffffffffffffffffff02", ByteReader.read_long),
        ("8080808020", ByteReader.read_int),
        ("02", ByteReader.read_boolean),
        ("000000", ByteReader.read_float),
        ("00000000000000", ByteReader.read_double),
        ("0461", ByteReader.read_bytes),
        ("01", ByteReader.read_bytes),
        ("feffffffffffffffff01", ByteReader.read_bytes),
        ("02ff", ByteReader.read_string),
    ],
)
def test_bytes_that_are_no_value_are_refused(data: str, read: object) -> None:
    assert callable(read)
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        read(ByteReader(bytes.fromhex(data)))


def test_a_place_that_is_not_there_is_refused() -> None:
    assert ByteReader(b"\x02").read_place(2, "branch") == 1
    for data in (b"\x04", b"\x01"):
        with pytest.raises(SchemaError, match="branch"):
            ByteReader(data).read_place(2, "branch")


def test_a_block_may_tell_its_size() -> None:
    assert ByteReader(b"\x04").read_block() == (2, None)
    assert ByteReader(b"\x03\x04ab").read_block() == (2, 2)


@pytest.mark.parametrize("data", [b"\x03\x06ab", b"\x03\x01ab", long_bytes(2**40)])
def test_a_block_that_cannot_be_there_is_refused(data: bytes) -> None:
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        ByteReader(data).read_block()


def test_bytes_left_over_are_refused() -> None:
    with pytest.raises(SchemaError, match="1 bytes are left"):
        ByteReader(b"a").end()


def test_a_number_is_held_by_32_bits_as_near_as_they_can() -> None:
    assert narrowed(0.5) == 0.5
    assert narrowed(0.1) != 0.1
    assert float_bytes(narrowed(0.1)) == float_bytes(0.1)
    assert narrowed(1e300) == math.inf
    assert narrowed(-1e300) == -math.inf
