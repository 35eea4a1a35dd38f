from __future__ import annotations

from datetime import time

import pytest

from penstock.errors import ModelError
from penstock.model.expr import Call, Column, Expr, Lambda, Literal, Resolved, Variable, columns_of
from penstock.model.expr_text import expr_text
from penstock.model.measure import Measure, measure_type
from penstock.model.navigation import Navigation, navigation_expr, navigations_in, replaced
from penstock.model.signature import constant_type, expr_type
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, STRING, TIME, array_of, map_of

SCHEMA = Schema((Field("a", INT32), Field("list", array_of(INT32))))
ITEM = Variable("x", INT32)
BODY = Resolved("add", (ITEM, Column("a")), INT32)
CALL = Resolved("transform", (Column("list"), Lambda((ITEM,), BODY)), array_of(INT32))


def test_a_function_of_the_library_says_what_it_gives() -> None:
    assert expr_type(CALL, SCHEMA) == array_of(INT32)
    assert expr_type(CALL.arguments[1], SCHEMA) == INT32
    assert constant_type(time(10, 15)) == TIME


def test_a_lambda_reads_the_columns_of_its_body() -> None:
    assert list(columns_of(CALL)) == ["list", "a"]


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (CALL, "transform(list, (x) => x + a)"),
        (Resolved("cast", (Column("a"),), STRING), "cast(a as string)"),
        (Resolved("join_texts", (Literal("a"), Literal("b")), STRING), "'a' || 'b'"),
        (Call("not", (Resolved("is_null", (Column("a"),), INT32),)), "not (a is null)"),
    ],
)
def test_functions_of_the_library_are_written_as_others(expr: Expr, text: str) -> None:
    assert expr_text(expr) == text


def test_values_of_other_rows_are_found_inside() -> None:
    last = Navigation("last", of=Column("a"))
    whole = Resolved("f", (Lambda((ITEM,), navigation_expr(last)),), INT32)
    assert list(navigations_in(whole)) == [last]
    found = replaced(whole, lambda _: Literal(1))
    assert found == Resolved("f", (Lambda((ITEM,), Literal(1)),), INT32)


def test_a_map_may_have_keys_that_are_no_strings() -> None:
    assert str(map_of(STRING)) == "map<string>"
    assert str(map_of(STRING, INT32)) == "map<int32, string>"


def test_so_many_collected_values_are_a_number_above_zero() -> None:
    measure = Measure("m", "collect_list", (Column("a"),), (("first", 0),), site="shop.py:3")
    with pytest.raises(ModelError) as caught:
        measure_type(measure, SCHEMA)
    assert caught.value.code == "AGGREGATE_SETTING"
