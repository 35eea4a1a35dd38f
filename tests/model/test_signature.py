from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from penstock.errors import ModelError, SchemaError
from penstock.model.expr import Call, Cast, Column, Constant, Expr, Literal, columns_of
from penstock.model.parameters import PARAMETERS
from penstock.model.signature import FUNCTIONS, constant_type, expr_type
from penstock.schema.annotation import schema_of
from penstock.schema.types import INT64

SCHEMA = schema_of(
    {
        "i": "int32",
        "n": "int64",
        "x": "float64",
        "s": "string",
        "b": "boolean",
        "t": "timestamp",
        "tags": "array<int64>",
        "parts": "map<float64>",
    }
)
NULL = Literal(None)


def call(function: str, *arguments: Expr | str) -> Call:
    named = (Column(item) if isinstance(item, str) else item for item in arguments)
    return Call(function, tuple(named))


def test_every_function_says_what_it_takes() -> None:
    assert set(FUNCTIONS) == set(PARAMETERS)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "boolean"),
        (3, "int32"),
        (2**31, "int64"),
        (-(2**31), "int32"),
        (0.5, "float64"),
        ("a", "string"),
        (b"a", "bytes"),
        (datetime(2024, 1, 1, tzinfo=UTC), "timestamp"),
        (date(2024, 1, 1), "date"),
        (Decimal("1.25"), "decimal(3, 2)"),
        (Decimal("0.001"), "decimal(3, 3)"),
        (Decimal(12), "decimal(2, 0)"),
        (None, "boolean"),
    ],
)
def test_a_constant_has_a_type(value: Constant, kind: str) -> None:
    assert str(constant_type(value)) == kind


@pytest.mark.parametrize(
    ("expr", "kind"),
    [
        (call("add", "i", "n"), "int64"),
        (call("multiply", "n", "x"), "float64"),
        (call("divide", "i", "i"), "float64"),
        (call("eq", "s", Literal("a")), "boolean"),
        (call("eq", "s", NULL), "boolean"),
        (call("length", "s"), "int32"),
        (call("split", "s", Literal(" ")), "array<string>"),
        (call("element_at", "tags", Literal(1)), "int64"),
        (call("element_at", "parts", Literal("a")), "float64"),
        (call("if", "b", "i", "n"), "int64"),
        (call("if", "b", "s", NULL), "string"),
        (call("if", "b", NULL, "s"), "string"),
        (call("coalesce", NULL, "x"), "float64"),
        (call("coalesce", NULL, NULL), "boolean"),
        (call("date_trunc", Literal("day"), "t"), "timestamp"),
        (Cast(Column("s"), INT64), "int64"),
    ],
)
def test_an_expression_has_a_type(expr: Expr, kind: str) -> None:
    assert str(expr_type(expr, SCHEMA)) == kind


@pytest.mark.parametrize(
    "expr",
    [
        call("add", "s", "n"),
        call("add", "n"),
        call("add", "n", "n", "n"),
        call("lower", "n"),
        call("eq", "s", "n"),
        call("and", "b", "n"),
        call("not", "s"),
        call("if", "n", "n", "n"),
        call("if", "b", "n", "s"),
        call("coalesce"),
        call("coalesce", "n", "s"),
        call("concat", "s", "n"),
        call("year", "n"),
        call("array_size", "s"),
    ],
)
def test_arguments_that_a_function_cannot_take_are_refused(expr: Expr) -> None:
    with pytest.raises(ModelError, match="FUNCTION_ARGUMENTS") as caught:
        expr_type(expr, SCHEMA, "shop.py:3")
    assert "(shop.py:3)" in caught.value.fact
    assert caught.value.hint


def test_a_misspelt_function_is_corrected() -> None:
    with pytest.raises(ModelError, match="FUNCTION_MISSING") as caught:
        expr_type(call("lowr", "s"), SCHEMA, "shop.py:3")
    assert caught.value.hint == 'Did you mean "lower"?'


def test_a_misspelt_column_inside_an_expression_is_corrected() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        expr_type(call("lower", "ss"), SCHEMA)
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        expr_type(Cast(Column("m"), INT64), SCHEMA)


def test_the_columns_of_an_expression_are_known() -> None:
    expr = call("if", "b", Cast(Column("n"), INT64), call("add", "n", Literal(1)))
    assert list(columns_of(expr)) == ["b", "n", "n"]
