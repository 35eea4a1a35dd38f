"""Polars against Spark, which says what an expression means: random expressions, hard values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.kernel.columns import dtype_of, from_rows
from penstock.kernel.expression import lower as polars_lower
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.signature import expr_type
from penstock.schema.types import BOOLEAN, DATE, TIMESTAMP
from penstock.spark.expression import lower as spark_lower
from tests.spark.expressions import CALLS, INEXACT, SCHEMA, Writer, some_rows

pytestmark = pytest.mark.spark

_LAST_DIGIT = 1e-13


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("seed", "depth"), [(1, 0), (2, 0), (3, 2)])
def test_random_expressions_are_equal_in_polars_and_in_spark(
    spark: SparkSession, seed: int, depth: int
) -> None:
    rows = some_rows(seed, 120)
    writer = Writer(seed)
    exprs = [writer.call(name, kinds, depth) for _, name, kinds in CALLS]
    assert list(_differences(spark, exprs, rows)) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_more_expressions_are_equal_in_polars_and_in_spark(spark: SparkSession) -> None:
    for seed in range(100, 130):
        writer = Writer(seed)
        exprs = [writer.call(name, kinds, 3) for _, name, kinds in CALLS]
        assert list(_differences(spark, exprs, some_rows(seed, 200))) == []


@pytest.mark.timeout(300)
def test_constants_are_equal_in_polars_and_in_spark(spark: SparkSession) -> None:
    moment = datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=UTC)
    constants = [None, True, 7, 2**40, 1.5, "Únicos", b"\x00\xff", moment, moment.date()]
    exprs: list[Expr] = [Literal(value) for value in constants]
    exprs += [
        Literal(Decimal("12.50")),
        Call("divide", (Column("f1"), Literal(1e5))),
        Call("divide", (Literal(10), Literal(4))),
        Call("eq", (Column("s1"), Literal(None))),
        Call("coalesce", (Literal(None), Column("s1"), Literal("x"))),
        Cast(Literal(None), BOOLEAN),
    ]
    assert list(_differences(spark, exprs, some_rows(5, 40))) == []


def test_words_are_split_as_unicode_has_them_in_both(spark: SparkSession) -> None:
    words = Call("split", (Call("lower", (Column("s1"),)), Literal(r"\W+")))
    rows: list[dict[str, object]] = [{"s1": "Únicos 2 equipos"}]
    assert list(_differences(spark, [words], rows)) == []
    frame = from_rows(rows, SCHEMA)
    assert frame.select(polars_lower(words, SCHEMA)).item().to_list() == ["únicos", "2", "equipos"]


def _differences(
    spark: SparkSession, exprs: Sequence[Expr], rows: Sequence[dict[str, object]]
) -> Iterator[tuple[Expr, object, object]]:
    frame = from_rows(rows, SCHEMA)
    table = spark.createDataFrame(frame.to_arrow()).coalesce(1)
    for start in range(0, len(exprs), 90):
        part = exprs[start : start + 90]
        for expr, theirs in zip(part, _judged(table, part), strict=True):
            wanted = dtype_of(expr_type(expr, SCHEMA))
            mine = frame.with_columns(polars_lower(expr, SCHEMA).alias("_mine"))["_mine"]
            assert mine.dtype == wanted, expr
            for one, other in zip(_values(mine), _values(theirs.cast(wanted)), strict=True):
                if not _same(one, other, _LAST_DIGIT if _inexact(expr) else 0.0):
                    yield expr, one, other


def _judged(table: DataFrame, exprs: Sequence[Expr]) -> list[pl.Series]:
    columns = [spark_lower(expr, SCHEMA).alias(f"c{n}") for n, expr in enumerate(exprs)]
    found = pl.from_arrow(table.select(*columns).toArrow())
    assert isinstance(found, pl.DataFrame)
    return found.get_columns()


def _values(series: pl.Series) -> list[object]:
    # Python has no years beyond 9999.
    if series.dtype in (dtype_of(TIMESTAMP), dtype_of(DATE)):
        return series.to_physical().to_list()
    return series.to_list()


def _inexact(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function in INEXACT


def _same(one: object, other: object, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return one == other or math.isclose(one, other, rel_tol=tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            _same(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    return one == other
