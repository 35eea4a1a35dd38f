from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from penstock.errors import SqlError
from penstock.front.sql import tree_expression as tree
from penstock.front.sql.functions.aggregate_entries import AGGREGATES
from penstock.front.sql.functions.aggregates import Aggregated, resolve_aggregate
from penstock.front.sql.parse import parse_expression
from penstock.kernel.columns import from_rows
from penstock.kernel.expression import lower
from penstock.kernel.fold.fold import Fold
from penstock.model.expr import Column
from penstock.model.measure import measure_type
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, FLOAT64, INT32, INT64, STRING, array_of, decimal_of
from tests.front.sql.functions.evaluated import resolve

COLUMNS = {
    "I": INT32,
    "L": INT64,
    "D": FLOAT64,
    "P": decimal_of(4, 2),
    "S": STRING,
    "B": BOOLEAN,
    "A": array_of(INT32),
}
SCHEMA = Schema(tuple(Field(name, type_) for name, type_ in COLUMNS.items()))
ROWS: tuple[tuple[Any, ...], ...] = (
    (2, 20, 1.0, Decimal("1.25"), "x", True, [1, None]),
    (None, None, None, None, None, None, None),
    (3, 30, 4.0, Decimal("2.50"), "y", True, [2, 3]),
    (2, 10, 2.5, Decimal("1.25"), "x", False, []),
)


def aggregated(text: str, settings: Mapping[str, str] | None = None) -> Aggregated:
    call = parse_expression(text)
    assert isinstance(call, tree.Call)
    texts = text[text.index("(") + 1 : -1]
    arguments = [resolve(part, COLUMNS) for part in texts.split(", ") if part and part != "*"]
    return resolve_aggregate(call.function.text, arguments, "m", settings)


def result(made: Aggregated, rows: Sequence[Sequence[Any]], weights: Sequence[int] = ()) -> Any:  # noqa: ANN401
    named = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows]
    taken = from_rows(named, SCHEMA).with_columns(
        pl.Series("_weight", weights or [1] * len(rows), pl.Int32),
        pl.Series("_time", [0] * len(rows), pl.Int64),
        pl.lit(1).alias("g"),
    )
    fold = Fold((made.measure,), SCHEMA, retracts=bool(weights))
    halves = [fold.fold(taken[:2], ["g"]), fold.fold(taken[2:], ["g"])]
    measured = fold.result(fold.merge(halves, ["g"]), ["g"])
    if made.finish is None:
        return measured["m"].to_list()[0]
    known = Schema((Field("m", measure_type(made.measure, SCHEMA)),))
    return measured.select(lower(made.finish(Column("m")), known).alias("m"))["m"].to_list()[0]


@pytest.mark.parametrize(
    ("text", "expected", "of_nulls"),
    [
        ("ATTR(I)", None, None),
        ("AVG(I)", 7 / 3, 0.0),
        ("AVG(P)", 5 / 3, 0.0),
        ("COLLECT_LIST(S)", ["x", None, "y", "x"], [None]),
        ("COLLECT_SET(S)", ["x", None, "y"], [None]),
        ("COUNT(*)", 4, 1),
        ("COUNT(S)", 3, 0),
        ("COUNT_DISTINCT(S)", 2, 0),
        ("EARLIEST_BY_OFFSET(S)", "x", None),
        ("EARLIEST_BY_OFFSET(I, 2)", [2, 3], []),
        ("EARLIEST_BY_OFFSET(I, 2, FALSE)", [2, None], [None]),
        ("LATEST_BY_OFFSET(L)", 10, None),
        ("LATEST_BY_OFFSET(L, FALSE)", 10, None),
        ("LATEST_BY_OFFSET(L, 2)", [30, 10], []),
        ("LATEST_BY_OFFSET(L, 3, FALSE)", [None, 30, 10], [None]),
        ("HISTOGRAM(S)", {"x": 2, "y": 1}, {}),
        ("MAX(P)", Decimal("2.50"), None),
        ("MIN(S)", "x", None),
        ("STDDEV_SAMP(I)", 1 / 3, 0.0),
        ("STDDEV_SAMPLE(I)", math.sqrt(1 / 3), 0.0),
        ("SUM(I)", 7, 0),
        ("SUM(P)", Decimal("5.00"), Decimal("0.00")),
        ("SUM_LIST(A)", 6, 0),
        ("TOPK(L, 2)", [30, 20], []),
        ("TOPKDISTINCT(I, 3)", [3, 2], []),
        ("TOPK(I, S, 2)", [{"sort_col": 3, "col0": "y"}, {"sort_col": 2, "col0": "x"}], []),
    ],
)
def test_aggregates_give_what_ksqldb_gives(text: str, expected: Any, of_nulls: Any) -> None:  # noqa: ANN401
    made = aggregated(text)
    found = result(made, ROWS)
    assert found == pytest.approx(expected) if isinstance(expected, float) else found == expected
    assert result(made, [ROWS[1]]) == of_nulls


def test_every_aggregate_is_tried() -> None:
    tried = {"CORRELATION"}
    for mark in test_aggregates_give_what_ksqldb_gives.pytestmark:
        tried |= {text.split("(")[0] for text, *_ in mark.args[1]}
    assert tried == set(AGGREGATES)


def test_attr_is_the_value_that_all_rows_have() -> None:
    made = aggregated("ATTR(S)")
    assert result(made, [ROWS[0], ROWS[3]]) == "x"
    assert result(made, [ROWS[0], ROWS[1]]) is None


def test_correlation_is_pearsons() -> None:
    made = aggregated("CORRELATION(I, L)")
    assert result(made, ROWS) == pytest.approx(math.sqrt(3) / 2)
    assert math.isnan(result(made, ROWS[:1]))
    assert math.isnan(result(made, [ROWS[1]]))


def test_rows_that_are_taken_back_no_longer_count() -> None:
    weights = (1, 1, 1, -1)
    rows = (ROWS[0], ROWS[1], ROWS[2], ROWS[0])
    assert result(aggregated("SUM(I)"), rows, weights) == 3
    assert result(aggregated("COLLECT_LIST(S)"), rows, weights) == [None, "y"]
    assert result(aggregated("LATEST_BY_OFFSET(I, 1)"), rows, weights) == [3]
    assert result(aggregated("ATTR(S)"), (ROWS[0], ROWS[2], ROWS[0]), (1, 1, -1)) == "y"


def test_a_limit_keeps_the_first_values() -> None:
    limits = {"ksql.functions.collect_list.limit": "2", "ksql.functions.collect_set.limit": "1"}
    assert result(aggregated("COLLECT_LIST(S)", limits), ROWS) == ["x", None]
    assert result(aggregated("COLLECT_SET(S)", limits), ROWS) == ["x"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SUM(S)", "SQL_FUNCTION_ARGUMENTS"),
        ("COUNT_DISTINCT(NULL)", "SQL_FUNCTION_ARGUMENTS"),
        ("TOPK(A, S, 2)", "SQL_FUNCTION_ARGUMENTS"),
        ("TOPK(I, L)", "SQL_FUNCTION_ARGUMENTS"),
        ("TOPK(L, I)", "SQL_ARGUMENT_CONSTANT"),
        ("LATEST_BY_OFFSET(I, 0)", "SQL_ARGUMENT_CONSTANT"),
    ],
)
def test_arguments_that_an_aggregate_cannot_take_are_refused(text: str, code: str) -> None:
    with pytest.raises(SqlError) as caught:
        aggregated(text)
    assert caught.value.code == code
