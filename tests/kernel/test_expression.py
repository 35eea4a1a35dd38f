"""What needs no judge; `tests/spark/test_expression.py` compares with Spark."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from penstock.errors import ModelError, PlanError
from penstock.kernel.columns import from_rows
from penstock.kernel.expression import LOWERINGS, lower
from penstock.kernel.functions.conversion import CONVERTERS
from penstock.model.conversion import CASTS
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.signature import FUNCTIONS, expr_type
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
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
)

NAN = float("nan")
SCHEMA = Schema(
    (
        Field("b", BOOLEAN),
        Field("i", INT32),
        Field("l", INT64),
        Field("x", FLOAT64),
        Field("s", STRING),
        Field("at", TIMESTAMP),
        Field("day", DATE),
        Field("d", decimal_of(20, 10)),
        Field("list", array_of(STRING)),
        Field("map", map_of(INT64)),
    )
)


def value_of(expr: Expr, **row: Any) -> Any:  # noqa: ANN401
    frame = from_rows([row], SCHEMA).with_columns(lower(expr, SCHEMA).alias("_result"))
    return frame["_result"].to_list()[0]


def call(function: str, *arguments: Any) -> Call:  # noqa: ANN401
    """Write a call; what is no expression is a constant."""
    return Call(
        function,
        tuple(
            item if isinstance(item, (Column, Literal, Cast, Call)) else Literal(item)
            for item in arguments
        ),
    )


def test_every_function_of_the_model_can_be_computed() -> None:
    assert set(LOWERINGS) == set(FUNCTIONS)


def test_every_cast_of_the_model_can_be_computed() -> None:
    assert set(CONVERTERS) == {
        (one, other) for one, other in CASTS if one != other or (one, one) in CONVERTERS
    }


@pytest.mark.parametrize(
    ("expr", "row", "expected"),
    [
        (call("add", Column("i"), 1), {"i": 2**31 - 1}, -(2**31)),
        (call("divide", Column("i"), 0), {"i": 1}, None),
        (call("divide", Column("i"), 2), {"i": 1}, 0.5),
        (call("mod", Column("i"), 3), {"i": -7}, -1),
        (call("mod", Column("i"), -3), {"i": 7}, 1),
        (call("mod", Column("i"), 0), {"i": 7}, None),
        (call("mod", Column("x"), 0.1), {"x": 0.3}, math.fmod(0.3, 0.1)),
        (call("mod", 7.0, 4.0), {}, 3.0),
        (call("round", Column("x"), 2), {"x": 2.675}, 2.68),
        (call("round", Column("x"), 2), {"x": 1.005}, 1.01),
        (call("round", Column("x")), {"x": -2.5}, -3.0),
        (call("round", Column("x"), -2), {"x": 1250.0}, 1300.0),
        (call("round", Column("x"), 1), {"x": 1e22}, 1e22),
        (call("round", Column("i"), -1), {"i": -25}, -30),
        (call("round", Column("d"), 1), {"d": Decimal("0.25")}, Decimal("0.3")),
        (call("floor", Column("x")), {"x": 1e300}, 2**63 - 1),
        (call("ln", Column("x")), {"x": 0.0}, None),
        (call("greatest", Column("x"), 1.0), {"x": None}, 1.0),
        (call("least", Column("x"), 1.0), {"x": NAN}, 1.0),
    ],
)
def test_numbers_are_computed_as_spark_computes_them(
    expr: Expr, row: dict[str, Any], expected: object
) -> None:
    assert value_of(expr, **row) == expected


def test_the_greatest_of_anything_and_nan_is_nan() -> None:
    assert math.isnan(value_of(call("greatest", Column("x"), 1.0), x=NAN))


def test_a_constant_compared_with_nulls_only_is_null_in_every_row() -> None:
    nulls = call("nullif", Column("i"), Column("i"))
    frame = from_rows([{"i": 1}, {"i": 2}], SCHEMA)
    found = frame.select("i", lower(call("le", 5, nulls), SCHEMA).alias("_result"))
    assert found["_result"].to_list() == [None, None]


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_a_division_by_a_constant_rounds_once_whatever_the_number_of_rows(rows: int) -> None:
    numbers = [49.0 * n + 0.7 for n in range(rows)]
    frame = from_rows([{"x": number} for number in numbers], SCHEMA)
    found = frame.select(lower(call("divide", Column("x"), 49.0), SCHEMA)).to_series().to_list()
    assert found == [number / 49.0 for number in numbers]


@pytest.mark.parametrize(
    ("expr", "row", "expected"),
    [
        (call("eq", Column("x"), NAN), {"x": NAN}, True),
        (call("gt", Column("x"), math.inf), {"x": NAN}, True),
        (call("lt", Column("i"), Column("l")), {"i": 1, "l": 2**40}, True),
        (call("eq", Column("d"), Column("i")), {"d": Decimal(3), "i": 3}, True),
        (call("eq", Column("s"), None), {"s": "a"}, None),
        (call("and", Column("b"), Literal(value=False)), {"b": None}, False),
        (call("or", Column("b"), Literal(value=True)), {"b": None}, True),
        (call("and", Column("b"), Literal(value=True)), {"b": None}, None),
        (call("not", Column("b")), {"b": None}, None),
        (call("is_nan", Column("x")), {"x": None}, False),
        (call("is_null", Column("x")), {"x": NAN}, False),
        (call("nullif", Column("i"), 1), {"i": 1}, None),
        (call("nullif", Column("i"), None), {"i": 1}, 1),
        (call("coalesce", Column("i"), None, Column("x")), {"x": 1.5}, 1.5),
        (call("if", Column("b"), 1, 2.5), {"b": True}, 1.0),
        (call("if", Column("b"), "yes", None), {"b": None}, None),
    ],
)
def test_conditions_are_decided_as_spark_decides_them(
    expr: Expr, row: dict[str, Any], expected: object
) -> None:
    assert value_of(expr, **row) == expected


@pytest.mark.parametrize(
    ("expr", "row", "expected"),
    [
        (call("trim", Column("s")), {"s": " \ta "}, "\ta"),
        (call("substring", Column("s"), 2, 2), {"s": "añbc"}, "ñb"),
        (call("substring", Column("s"), -2), {"s": "abc"}, "bc"),
        (call("substring", Column("s"), -5, 3), {"s": "abc"}, "a"),
        (call("substring", Column("s"), 0, 2), {"s": "abc"}, "ab"),
        (call("lpad", Column("s"), 5, "xy"), {"s": "ab"}, "xyxab"),
        (call("rpad", Column("s"), 1), {"s": "ab"}, "a"),
        (call("replace", Column("s"), "", "-"), {"s": "ab"}, "ab"),
        (call("reverse", Column("s")), {"s": "e\u0301x"}, "x\u0301e"),
        (call("concat", Column("s"), "!"), {"s": None}, None),
        (call("like", Column("s"), "a_%"), {"s": "a\nb"}, True),
        (call("like", Column("s"), r"100\%"), {"s": "100%"}, True),
        (call("like", Column("s"), "."), {"s": "x"}, False),
        (call("regexp_like", Column("s"), r"b$"), {"s": "ab\n"}, False),
        (call("regexp_replace", Column("s"), r"(\w)-", r"$1\$"), {"s": "a-b"}, "a$b"),
        (call("regexp_replace", Column("s"), r"(\w)", "$12"), {"s": "ab"}, "a2b2"),
        (call("regexp_extract", Column("s"), r"(\d+)"), {"s": "x"}, ""),
        (call("regexp_extract", Column("s"), r"(\d+)"), {"s": None}, None),
        (
            call("regexp_extract_all", Column("s"), r"(\w)(\d)?", 2),
            {"s": "a1 b"},
            ["1", ""],
        ),
        (call("split", Column("s"), r"\W+"), {"s": "Únicos 2 equipos"}, ["Únicos", "2", "equipos"]),
        (call("split", Column("s"), ","), {"s": ",a,"}, ["", "a", ""]),
        (call("split", Column("s"), ""), {"s": "añ"}, ["a", "ñ"]),
    ],
)
def test_texts_are_made_as_spark_makes_them(
    expr: Expr, row: dict[str, Any], expected: object
) -> None:
    assert value_of(expr, **row) == expected


@pytest.mark.parametrize(
    ("expr", "row", "expected"),
    [
        (call("element_at", Column("list"), 1), {"list": ["a", "b"]}, "a"),
        (call("element_at", Column("list"), -1), {"list": ["a", "b"]}, "b"),
        (call("element_at", Column("list"), 3), {"list": ["a", "b"]}, None),
        (call("element_at", Column("list"), Column("i")), {"list": ["a"], "i": 0}, None),
        (call("element_at", Column("map"), "k"), {"map": {"k": 7}}, 7),
        (call("array_size", Column("list")), {"list": None}, None),
        (call("array_contains", Column("list"), "z"), {"list": ["a", None]}, None),
        (call("array_contains", Column("list"), "a"), {"list": ["a", None]}, True),
        (call("array_contains", Column("list"), "z"), {"list": []}, False),
    ],
)
def test_collections_are_read_as_spark_reads_them(
    expr: Expr, row: dict[str, Any], expected: object
) -> None:
    assert value_of(expr, **row) == expected


MOMENT = datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (call("millis", Column("at")), -1),
        (call("second", Column("at")), 59),
        (call("date_trunc", "week", Column("at")), datetime(1969, 12, 29, tzinfo=UTC)),
        (call("date_trunc", "HOUR", Column("at")), datetime(1969, 12, 31, 23, tzinfo=UTC)),
        (call("to_date", Column("at")), MOMENT.date()),
        (Cast(Column("at"), STRING), "1969-12-31 23:59:59.999"),
        (Cast(Column("at"), INT64), -1),
    ],
)
def test_times_before_1970_are_times_as_well(expr: Expr, expected: object) -> None:
    assert value_of(expr, at=MOMENT) == expected


@pytest.mark.parametrize(
    ("given", "target", "expected"),
    [
        (" 42 ", INT32, 42),
        ("5.7", INT32, 5),
        ("1e3", INT32, None),
        ("99999999999", INT32, None),
        ("1.5d", FLOAT64, 1.5),
        ("-Infinity", FLOAT64, -math.inf),
        ("YES", BOOLEAN, True),
        ("maybe", BOOLEAN, None),
        ("1.25", decimal_of(5, 1), Decimal("1.3")),
        ("2020-2-9", DATE, datetime(2020, 2, 9, tzinfo=UTC).date()),
        ("2021-02-29", DATE, None),
        ("2020-01-01T01:00+02:00", TIMESTAMP, datetime(2019, 12, 31, 23, tzinfo=UTC)),
        ("2020-01-01 24:00:00", TIMESTAMP, None),
    ],
)
def test_texts_are_read_as_spark_reads_them(given: str, target: Type, expected: object) -> None:
    assert value_of(Cast(Column("s"), target), s=given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (1e7, "1.0E7"),
        (123456789.125, "1.23456789125E8"),
        (-1e22, "-1.0E22"),
        (-0.0, "-0.0"),
        (NAN, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_floating_point_numbers_are_written_as_java_writes_them(
    given: float, expected: str
) -> None:
    assert value_of(Cast(Column("x"), STRING), x=given) == expected


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        (call("round", Column("x"), Column("i")), "ARGUMENT_CONSTANT"),
        (call("like", Column("s"), Column("s")), "ARGUMENT_CONSTANT"),
        (call("round", Column("x"), 99), "ROUND_PLACES"),
        (call("date_trunc", "fortnight", Column("at")), "TIME_UNIT"),
        (call("like", Column("s"), r"a\b"), "LIKE_PATTERN"),
        (call("regexp_like", Column("s"), r"(a)\1"), "REGEX_SYNTAX"),
        (call("regexp_like", Column("s"), r"a(?=b)"), "REGEX_SYNTAX"),
        (call("regexp_extract", Column("s"), r"(a)", 2), "REGEX_GROUP"),
        (call("regexp_replace", Column("s"), "a", "$1"), "REPLACEMENT"),
        (call("regexp_replace", Column("s"), "a", "$"), "REPLACEMENT"),
        (Cast(Column("map"), INT32), "CAST_MISSING"),
        (Cast(Column("day"), INT32), "CAST_MISSING"),
    ],
)
def test_what_has_no_meaning_is_refused_when_it_is_written(expr: Expr, code: str) -> None:
    with pytest.raises(ModelError, match=code):
        expr_type(expr, SCHEMA, "shop.py:1")


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        (call("regexp_like", Column("s"), "(a"), "REGEX_SYNTAX"),
        (call("split", Column("s"), "x*"), "REGEX_EMPTY"),
        (call("multiply", Column("d"), Column("d")), "DECIMAL_DIGITS"),
    ],
)
def test_what_columns_cannot_do_is_refused_when_it_is_lowered(expr: Expr, code: str) -> None:
    with pytest.raises(PlanError, match=code):
        lower(expr, SCHEMA)
