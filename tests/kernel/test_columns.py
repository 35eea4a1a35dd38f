from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.kernel.columns import (
    control_columns,
    empty,
    frame_schema,
    from_rows,
    series_of,
    with_control,
)
from penstock.schema.arrow import to_arrow
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

EVERYTHING = Schema(
    tuple(
        Field(f"c{number}", type_)
        for number, type_ in enumerate(
            (
                BOOLEAN,
                INT32,
                INT64,
                FLOAT64,
                STRING,
                BYTES,
                TIMESTAMP,
                DATE,
                decimal_of(9, 2),
                array_of(INT32),
                map_of(INT64),
                struct_of(a=INT32, b=array_of(STRING)),
            )
        )
    )
)


def test_the_columns_of_a_frame_are_those_that_arrow_gives() -> None:
    arrow = pl.from_arrow(to_arrow(EVERYTHING).empty_table())
    assert isinstance(arrow, pl.DataFrame)
    assert frame_schema(EVERYTHING) == dict(arrow.schema)


def test_an_empty_frame_has_all_columns() -> None:
    assert empty(EVERYTHING).schema == pl.Schema(frame_schema(EVERYTHING))


def test_a_column_that_a_row_does_not_have_is_null() -> None:
    frame = from_rows([{"c1": 1}, {"c4": "a"}], EVERYTHING)
    assert frame["c1"].to_list() == [1, None]
    assert frame["c10"].to_list() == [None, None]


def test_rows_come_back_as_they_went_in() -> None:
    moment = datetime(2020, 1, 1, 12, 30, 15, 123000, tzinfo=UTC)
    row = {
        "c0": True,
        "c1": -1,
        "c2": 2**40,
        "c3": 1.5,
        "c4": "é",
        "c5": b"\xff",
        "c6": moment,
        "c7": date(2020, 2, 29),
        "c8": Decimal("1.20"),
        "c9": [1, None],
        "c10": {"a": 1},
        "c11": {"a": 1, "b": ["x"]},
    }
    assert from_rows([row], EVERYTHING).row(0, named=True) == row


@pytest.mark.parametrize("value", [1_000, datetime(1970, 1, 1, 0, 0, 1)])  # noqa: DTZ001
def test_a_timestamp_may_be_milliseconds_or_a_time_without_a_zone(value: object) -> None:
    found = series_of("at", [value], TIMESTAMP).to_list()
    assert found == [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("a", INT32),
        (2**40, INT32),
        (1.5, INT64),
        (1, STRING),
        (b"a", STRING),
        (1, BOOLEAN),
        (datetime(2020, 1, 1, tzinfo=UTC), DATE),
        ([1, "a"], array_of(INT32)),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_column(value: Any, type_: Type) -> None:  # noqa: ANN401
    with pytest.raises(SchemaError, match="VALUE_TYPE") as caught:
        series_of("price", [value], type_)
    assert '"price"' in caught.value.fact


def test_control_columns_are_told_from_the_users() -> None:
    frame = with_control(pl.DataFrame({"_mine": [1], "at": [5]}), time=pl.col("at"))
    assert control_columns(frame) == ["_weight", "_time", "_taken"]
    assert frame.row(0) == (1, 5, 1, 5, 5)


def test_a_map_travels_to_arrow_as_a_map() -> None:
    frame = from_rows([{"c10": {"a": 1}}], EVERYTHING)
    assert pa.types.is_map(frame.to_arrow().schema.field("c10").type)
