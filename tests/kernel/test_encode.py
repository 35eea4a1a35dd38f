from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import SchemaError
from penstock.kernel.encode import encode, spread
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT32, STRING


class _Short(Codec):
    """Writes one byte for each number, and refuses larger ones."""

    schema = Schema((Field("n", INT32),))

    def __init__(self, code: str = "VALUE_ENCODE") -> None:
        self._code = code

    @override
    def decode(self, values: pa.Array) -> Decoded:
        raise NotImplementedError

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        numbers = rows.column("n").to_pylist()
        for row, number in enumerate(numbers):
            if number > 255:
                raise SchemaError(self._code, f"row {row} is too large")
        return pa.array([bytes([number]) for number in numbers], pa.binary())


ROW = Schema((Field("name", STRING), Field("x", FLOAT64)))


def test_rows_become_bytes_in_their_order() -> None:
    rows = pl.DataFrame({"name": ["a", None], "x": [1.5, None], "_weight": [1, 1]})
    made = encode(codec_of(Format("json"), ROW), rows)
    assert [len(value) > 2 for value in made.values.to_pylist()] == [True, True]
    again = codec_of(Format("json"), ROW).decode(made.values)
    assert again.rows.to_pylist() == [{"name": "a", "x": 1.5}, {"name": None, "x": None}]


def test_a_row_that_the_format_cannot_hold_is_a_failure_and_the_others_are_written() -> None:
    made = encode(_Short(), pl.DataFrame({"n": [1, 300, 2, 400, 5]}, schema={"n": pl.Int32}))
    assert made.values.to_pylist() == [b"\x01", None, b"\x02", None, b"\x05"]
    assert sorted(made.failures) == [1, 3]
    assert made.failures[1] == "row 0 is too large"


def test_an_error_of_another_kind_is_not_a_rows_fault() -> None:
    broken = _Short(code="REGISTRY_DOWN")
    with pytest.raises(SchemaError, match="REGISTRY_DOWN"):
        encode(broken, pl.DataFrame({"n": [1000]}, schema={"n": pl.Int32}))


def test_values_stand_where_their_rows_are() -> None:
    made = encode(_Short(), pl.DataFrame({"n": [1, 2]}))
    there = pl.Series([False, True, False, True])
    assert spread(made.values, there).to_pylist() == [None, b"\x01", None, b"\x02"]


def test_no_rows_give_no_bytes() -> None:
    assert len(encode(_Short(), pl.DataFrame({"n": []})).values) == 0
