from __future__ import annotations

import re

import pytest

import penstock as ps
from penstock.model.expr import Call
from penstock.model.measure import Function
from penstock.model.signature import FUNCTIONS, expr_type
from penstock.schema.annotation import schema_of
from tests.house.survey import ROOT, table

SCHEMA = schema_of(
    {
        "n": "int64",
        "x": "float64",
        "s": "string",
        "t": "timestamp",
        "tags": "array<string>",
        "parts": "map<int64>",
    }
)
CALLS = {
    "abs": ps.abs("n"),
    "array_contains": ps.array_contains("tags", "a"),
    "array_size": ps.array_size("tags"),
    "ceil": ps.ceil("x"),
    "coalesce": ps.coalesce("n", ps.lit(0)),
    "concat": ps.concat("s", ps.lit("-"), "s"),
    "contains": ps.contains("s", "a"),
    "date_trunc": ps.date_trunc("hour", "t"),
    "day": ps.day("t"),
    "element_at": ps.element_at("parts", "a"),
    "ends_with": ps.ends_with("s", "a"),
    "exp": ps.exp("x"),
    "floor": ps.floor("x"),
    "from_millis": ps.from_millis("n"),
    "greatest": ps.greatest("n", "x"),
    "hour": ps.hour("t"),
    "is_nan": ps.is_nan("x"),
    "least": ps.least("n", "x"),
    "length": ps.length("s"),
    "like": ps.like("s", "a%"),
    "ln": ps.ln("x"),
    "lower": ps.lower("s"),
    "lpad": ps.lpad("s", 3, "0"),
    "millis": ps.millis("t"),
    "minute": ps.minute("t"),
    "month": ps.month("t"),
    "nullif": ps.nullif("n", 0),
    "power": ps.power("x", 2),
    "regexp_extract": ps.regexp_extract("s", "(a)"),
    "regexp_extract_all": ps.regexp_extract_all("s", "#(\\w+)"),
    "regexp_like": ps.regexp_like("s", "a+"),
    "regexp_replace": ps.regexp_replace("s", "a+", "b"),
    "replace": ps.replace("s", "a", "b"),
    "reverse": ps.reverse("tags"),
    "round": ps.round("x", 2),
    "rpad": ps.rpad("s", 3),
    "second": ps.second("t"),
    "split": ps.split("s", " "),
    "sqrt": ps.sqrt("x"),
    "starts_with": ps.starts_with("s", "a"),
    "substring": ps.substring("s", 1, 2),
    "to_date": ps.to_date("t"),
    "trim": ps.trim("s"),
    "upper": ps.upper("s"),
    "year": ps.year("t"),
}
# What operators and methods of expressions say.
OPERATORS = {
    *("add", "subtract", "multiply", "divide", "mod", "negate"),
    *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"),
    *("is_null", "is_not_null", "if"),
}


def documented() -> set[str]:
    """The names in the tables of docs/functions.md."""
    rows = table(ROOT / "docs" / "functions.md")
    return {name for row in rows for name in re.findall(r"`([a-z_0-9]+)", row[0])}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_is_called_by_its_name_and_fits_its_arguments(name: str) -> None:
    node = CALLS[name].node
    assert isinstance(node, Call)
    assert node.function == name
    assert expr_type(node, SCHEMA)


def test_every_function_can_be_said() -> None:
    assert set(CALLS) | OPERATORS == set(FUNCTIONS)


def test_the_first_text_names_a_column_and_the_rest_are_constants() -> None:
    assert str(ps.contains("s", "a")) == "contains(s, 'a')"
    assert str(ps.contains(ps.lower("s"), ps.col("t"))) == "contains(lower(s), t)"


def test_the_document_lists_every_function_and_aggregate() -> None:
    aggregates = set(Function.__args__) - {"user"}  # type: ignore[attr-defined]
    assert sorted((set(FUNCTIONS) | aggregates) - documented()) == []


def test_the_document_lists_no_function_that_is_not_there() -> None:
    known = {*FUNCTIONS, *ps.__all__, "cast", "is_in", "between", *Function.__args__}  # type: ignore[attr-defined]
    assert sorted(documented() - known) == []
