from __future__ import annotations

from typing import get_args

import pytest

from penstock.errors import ModelError
from penstock.model.expr import Column, Constant
from penstock.model.measure import Function, Measure, measure_type
from penstock.schema.annotation import schema_of
from penstock.schema.types import STRING

SCHEMA = schema_of({"n": "int32", "x": "float64", "d": "decimal(10, 2)", "s": "string", "b": bool})


def measure(function: Function, *columns: str, **settings: Constant) -> Measure:
    arguments = tuple(map(Column, columns))
    return Measure("m", function, arguments, tuple(settings.items()), site="shop.py:3")


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (measure("count"), "int64"),
        (measure("count", "s"), "int64"),
        (measure("sum", "n"), "int64"),
        (measure("sum", "b"), "int64"),
        (measure("sum", "x"), "float64"),
        (measure("sum", "d"), "decimal(20, 2)"),
        (measure("avg", "n"), "float64"),
        (measure("quantile", "n", q=0.5), "float64"),
        (measure("min", "s"), "string"),
        (measure("first", "s", by="arrival"), "string"),
        (measure("collect_list", "s"), "array<string>"),
        (measure("top_k", "n", k=3), "array<int32>"),
        (measure("count_distinct", "n", "s"), "int64"),
        (
            measure("histogram", "n", bins=4, low=0, high=8),
            "array<struct<low: float64, high: float64, count: int64>>",
        ),
        (Measure("m", "user", (), gives=STRING), "string"),
    ],
)
def test_an_aggregate_has_a_type(asked: Measure, kind: str) -> None:
    assert str(measure_type(asked, SCHEMA)) == kind


@pytest.mark.parametrize("function", ["sum", "avg", "variance", "stddev", "quantile", "histogram"])
def test_what_calculates_takes_numbers(function: Function) -> None:
    settings: dict[str, Constant] = {"q": 0.5, "bins": 4, "low": 0, "high": 8}
    with pytest.raises(ModelError, match="AGGREGATE_TYPE") as caught:
        measure_type(measure(function, "s", **settings), SCHEMA)
    assert caught.value.fact == f'{function} "m" is of type string (shop.py:3)'


@pytest.mark.parametrize("function", sorted(set(get_args(Function)) - {"count", "user"}))
def test_an_aggregate_of_nothing_is_refused(function: Function) -> None:
    with pytest.raises(ModelError, match="AGGREGATE_ARGUMENTS"):
        measure_type(measure(function), SCHEMA)


def test_an_aggregate_of_one_column_takes_no_more() -> None:
    with pytest.raises(ModelError, match="AGGREGATE_ARGUMENTS"):
        measure_type(measure("sum", "n", "x"), SCHEMA)


@pytest.mark.parametrize(
    "asked",
    [
        measure("top_k", "n"),
        measure("top_k", "n", k=0),
        measure("top_k_distinct", "n", k=2.5),
        measure("quantile", "n", q=1.5),
        measure("quantile", "n", q=-0.1),
        measure("histogram", "n", bins=0, low=0, high=1),
        measure("histogram", "n", bins=2, low=1, high=1),
        measure("first", "n", by="size"),
    ],
)
def test_a_setting_outside_its_range_is_refused(asked: Measure) -> None:
    with pytest.raises(ModelError, match="AGGREGATE_SETTING") as caught:
        measure_type(asked, SCHEMA)
    assert "(shop.py:3)" in caught.value.fact


def test_a_setting_is_found_by_name() -> None:
    assert measure("top_k", "n", k=3).setting("k") == 3
    assert measure("count").setting("k", 7) == 7
