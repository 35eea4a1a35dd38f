from __future__ import annotations

import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from penstock.kernel.columns import from_rows
from penstock.kernel.expression import lower
from penstock.kernel.match_expression import Workbook
from penstock.kernel.match_function import MAKERS
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.navigation import Navigation, navigation_expr
from penstock.model.pattern_condition import BY_ROW
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    decimal_of,
)

KINDS: dict[str, tuple[Any, list[Any]]] = {
    "i": (INT32, [0, 1, -1, 2**31 - 1, -(2**31), 7]),
    "l": (INT64, [0, 3, -5, 2**63 - 1, -(2**63), 12]),
    "f": (FLOAT64, [0.0, -0.0, 1.5, -2.25, float("nan"), float("inf"), -float("inf")]),
    "d": (decimal_of(9, 2), [Decimal("0.00"), Decimal("1.25"), Decimal("-3.10")]),
    "s": (STRING, ["", "a", "b", "é", "ab"]),
    "b": (BOOLEAN, [True, False]),
    "t": (TIMESTAMP, [datetime(2024, 1, 1, tzinfo=UTC), datetime(1969, 5, 1, tzinfo=UTC)]),
    "y": (DATE, [date(2024, 1, 1), date(1969, 5, 1)]),
}
NUMBERS = "ilfd"
COLUMNS = Schema(
    tuple(Field(f"{name}{n}", type_) for name, (type_, _) in KINDS.items() for n in (1, 2))
)


def rows(count: int = 60) -> list[dict[str, Any]]:
    chance = random.Random(3)
    return [
        {field.name: chance.choice([None, *KINDS[field.name[0]][1]]) for field in COLUMNS.fields}
        for _ in range(count)
    ]


FRAME = from_rows(rows(), COLUMNS).with_columns(
    pl.lit(0, pl.Int64).alias("_group"), pl.lit(0, pl.Int64).alias("_time")
)


def one_by_one(expr: Expr) -> list[Any]:
    """Compute an expression whose columns are values of a row matched before."""
    book = Workbook(COLUMNS, None)
    ask = book.asked(_asked(expr), "now")
    sheet = book.sheet(FRAME)
    return [ask(sheet, at, ((at,),) * len(book.registers)) for at in range(FRAME.height)]


def _asked(expr: Expr) -> Expr:
    if isinstance(expr, Column):
        return navigation_expr(Navigation("last", ("then",), expr))
    if isinstance(expr, Call):
        return Call(expr.function, tuple(_asked(argument) for argument in expr.arguments))
    return expr


def by_column(expr: Expr) -> list[Any]:
    found = FRAME.select(lower(expr, COLUMNS)).to_series()
    plain = found.to_physical() if found.dtype.is_temporal() else found
    return plain.to_list() * (1 if len(plain) == FRAME.height else FRAME.height)


def comparable(values: list[Any]) -> list[Any]:
    # A decimal product may be written with other places; NaN does not equal itself.
    return ["nan" if value != value else value for value in values]  # noqa: PLR0124


def binary(functions: str, kinds: list[str]) -> list[Expr]:
    names = functions.split()
    pairs = [(f"{kind[0]}1", f"{kind[1]}2") for kind in kinds]
    return [Call(name, (Column(one), Column(other))) for name in names for one, other in pairs]


SAME = [kind * 2 for kind in KINDS]
MIXED = ["il", "li", "if", "fl", "id", "dl", "df"]
CASES: list[Expr] = [
    *binary("eq ne lt le gt ge", [*SAME, *MIXED]),
    *binary("add subtract multiply mod", [kind * 2 for kind in NUMBERS] + MIXED),
    *binary("divide", ["ii", "ll", "ff", "if", "lf"]),
    *binary("and or", ["bb"]),
    *binary("coalesce greatest least nullif", [*SAME, "il", "lf"]),
    *(Call("not", (Column(name),)) for name in ("b1",)),
    *(Call(name, (Column(f"{kind}1"),)) for name in ("is_null", "is_not_null") for kind in KINDS),
    *(Call(name, (Column(f"{kind}1"),)) for name in ("negate", "abs") for kind in "ilfd"),
    Call("is_nan", (Column("f1"),)),
    Call("if", (Column("b1"), Column("i1"), Column("l2"))),
    Call("if", (Call("gt", (Column("i1"), Literal(0))), Column("f1"), Literal(None))),
    Call("eq", (Column("t1"), Literal(datetime(2024, 1, 1, tzinfo=UTC)))),
    Call("ge", (Column("y1"), Literal(date(2000, 1, 1)))),
    Call("eq", (Column("i1"), Literal(None))),
    Call("gt", (Call("subtract", (Column("l1"), Column("l2"))), Literal(2))),
]


@pytest.mark.parametrize("expr", CASES, ids=str)
def test_a_value_is_computed_as_a_column_of_them_is(expr: Expr) -> None:
    assert comparable(one_by_one(expr)) == comparable(by_column(expr))


def test_there_is_a_function_for_each_that_the_model_lets_through() -> None:
    assert set(MAKERS) == BY_ROW
