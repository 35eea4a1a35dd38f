from __future__ import annotations

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.single_object import fingerprint_of, read_single_object, single_object
from penstock.schema.avro.text import fingerprint

INT = parse_avro('"int"')


def test_a_value_begins_with_the_fingerprint_of_its_schema() -> None:
    data = single_object(INT, 1)
    assert data.hex() == "c3018f5c393f1ad5757202"
    assert fingerprint_of(data) == fingerprint(INT)
    assert read_single_object(data, {fingerprint(INT): INT}) == 1


def test_a_value_is_read_with_a_readers_schema() -> None:
    read = read_single_object(
        single_object(INT, 1), {fingerprint(INT): INT}, parse_avro('"double"')
    )
    assert isinstance(read, float)


@pytest.mark.parametrize("data", [b"", b"\xc3\x01", b"\xc3\x02" + bytes(9)])
def test_what_does_not_begin_so_is_refused(data: bytes) -> None:
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        read_single_object(data, {})


def test_a_schema_that_is_not_at_hand_is_named_by_its_fingerprint() -> None:
    with pytest.raises(SchemaError, match="AVRO_FINGERPRINT") as caught:
        read_single_object(single_object(INT, 1), {})
    assert "8f5c393f1ad57572" in caught.value.fact
