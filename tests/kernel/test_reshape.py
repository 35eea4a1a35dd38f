from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from penstock.kernel.reshape import reshaped, with_names

OLD = pl.Struct(
    {
        "a": pl.Int32,
        "gone": pl.String,
        "list": pl.List(pl.Struct({"x": pl.Int32})),
        "map": pl.Map(pl.String, pl.Struct({"q": pl.Int32})),
    }
)
NEW = pl.Struct(
    {
        "new": pl.Float64,
        "a": pl.Int64,
        "list": pl.List(pl.Struct({"y": pl.String, "x": pl.Float64})),
        "map": pl.Map(pl.String, pl.Struct({"q": pl.Int64, "z": pl.Boolean})),
    }
)
VALUES: list[Any] = [
    {"a": 1, "gone": "g", "list": [{"x": 1}, None, {"x": 2}], "map": {"k": {"q": 3}}},
    None,
    {"a": None, "gone": None, "list": None, "map": None},
    {"a": 4, "gone": "h", "list": [], "map": {}},
]
EXPECTED: list[Any] = [
    {
        "new": 1.5,
        "a": 1,
        "list": [{"y": "?", "x": 1.0}, None, {"y": "?", "x": 2.0}],
        "map": {"k": {"q": 3, "z": None}},
    },
    None,
    {"new": 1.5, "a": None, "list": None, "map": None},
    {"new": 1.5, "a": 4, "list": [], "map": {}},
]


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize("stop", range(5))
def test_parts_are_found_by_name_and_what_is_missing_is_a_default_or_null(
    start: int, stop: int
) -> None:
    values = pl.Series("v", VALUES, dtype=OLD)[start:stop]
    found = reshaped(values, NEW, {"new": 1.5, "list.y": "?"})
    assert found.name == "v"
    assert found.dtype == NEW
    assert found.to_list() == EXPECTED[start:stop]


def test_a_column_in_pieces_is_reshaped_as_a_whole() -> None:
    values = pl.Series("v", VALUES, dtype=OLD)
    pieces = pl.concat([values, values], rechunk=False)
    found = reshaped(pieces, NEW, {"new": 1.5, "list.y": "?"})
    assert found.to_list() == EXPECTED * 2


def test_keys_of_maps_become_wider_too() -> None:
    values = pl.Series("v", [{1: 2}, None, {}], dtype=pl.Map(pl.Int32, pl.Int32))
    assert reshaped(values, pl.Map(pl.Int64, pl.Float64)).to_list() == [{1: 2.0}, None, {}]


def test_a_long_number_becomes_the_nearest_there_is() -> None:
    values = pl.Series("v", [2**53 + 1], dtype=pl.Int64)
    assert reshaped(values, pl.Float64()).to_list() == [float(2**53)]


def test_a_value_that_has_no_place_is_refused() -> None:
    values = pl.Series("v", [[2**40]], dtype=pl.List(pl.Int64))
    with pytest.raises(pa.ArrowInvalid):
        reshaped(values, pl.List(pl.Int32))


def test_a_column_of_the_wanted_type_is_handed_on() -> None:
    values = pl.Series("v", VALUES, dtype=OLD)
    assert reshaped(values, OLD) is values
    assert with_names(values, OLD) is values


@pytest.mark.parametrize("start", range(4))
def test_names_change_and_values_stay(start: int) -> None:
    like = pl.Struct(
        {
            "A": pl.Int32,
            "gone": pl.String,
            "list": pl.List(pl.Struct({"X": pl.Int32})),
            "map": pl.Map(pl.String, pl.Struct({"Q": pl.Int32})),
        }
    )
    found = with_names(pl.Series("v", VALUES, dtype=OLD)[start:], like).to_list()
    first = {"A": 1, "gone": "g", "list": [{"X": 1}, None, {"X": 2}], "map": {"k": {"Q": 3}}}
    rest = [
        None,
        {"A": None, "gone": None, "list": None, "map": None},
        {"A": 4, "gone": "h", "list": [], "map": {}},
    ]
    assert found == [first, *rest][start:]
