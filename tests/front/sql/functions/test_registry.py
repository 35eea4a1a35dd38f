from __future__ import annotations

import pytest

from penstock.errors import SqlError
from penstock.front.sql.functions.registry import (
    SCALARS,
    describe,
    function_names,
    is_aggregate,
    is_scalar,
    is_table_function,
    resolve_call,
    takes_rows_back,
    takes_unit,
)
from penstock.front.sql.functions.tables import resolve_table_function
from penstock.kernel.sql.library import LIBRARY
from penstock.schema.types import INT32, INT64, STRING, array_of, decimal_of
from tests.front.sql.functions.evaluated import resolve, shown


@pytest.mark.parametrize("name", sorted(SCALARS))
def test_the_example_of_a_function_gives_what_is_said(name: str) -> None:
    assert shown(SCALARS[name].example) == SCALARS[name].result


def test_every_function_is_in_the_library() -> None:
    missing = [n for n, entry in SCALARS.items() if (entry.function or n.lower()) not in LIBRARY]
    assert missing == []


def test_every_function_is_described() -> None:
    described = [describe(name) for name in function_names()]
    assert [item.name for item in described if not item.description.endswith(".")] == []
    assert [item.name for item in described if not item.example] == []
    assert describe("substring").overloads[0] == "SUBSTRING(STRING, INTEGER)"
    assert describe("count").kind == "aggregate"
    assert describe("explode").kind == "table"
    assert describe("lpad").category == "STRING"


def test_functions_are_known_by_kind() -> None:
    assert is_scalar("ucase")
    assert is_aggregate("sum")
    assert is_table_function("explode")
    assert takes_unit("dateadd")
    assert not takes_unit("len")
    assert takes_rows_back("sum")
    assert not takes_rows_back("max")


def test_a_misspelt_function_is_named_with_a_suggestion() -> None:
    with pytest.raises(SqlError, match="SUBSTRNG does not exist") as caught:
        resolve_call("substrng", [])
    assert caught.value.code == "SQL_FUNCTION_MISSING"
    assert "SUBSTRING" in caught.value.hint
    with pytest.raises(SqlError) as caught:
        describe("nothing_like_it")
    assert caught.value.code == "SQL_FUNCTION_MISSING"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("LEN(1)", "SQL_FUNCTION_ARGUMENTS"),
        ("GREATEST()", "SQL_FUNCTION_ARGUMENTS"),
        ("LEAST('a', 1)", "SQL_FUNCTION_ARGUMENTS"),
        ("LEAST(1, 5000000000)", "SQL_FUNCTION_AMBIGUOUS"),
        ("GREATEST(NULL, NULL)", "SQL_FUNCTION_AMBIGUOUS"),
        ("DATEADD(FROM_DAYS(1), 5, FROM_DAYS(1))", "SQL_FUNCTION_ARGUMENTS"),
        ("TRANSFORM(ARRAY[1], (x, y) => x)", "SQL_FUNCTION_ARGUMENTS"),
        ("FILTER(ARRAY[1], x => x + 1)", "SQL_FUNCTION_ARGUMENTS"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(text: str, code: str) -> None:
    with pytest.raises(SqlError) as caught:
        resolve(text)
    assert caught.value.code == code


def test_a_refusal_names_the_types_and_the_ways_there_are() -> None:
    with pytest.raises(SqlError, match=r"LEN does not accept parameters \(INTEGER\)") as caught:
        resolve("LEN(1)")
    assert "LEN(STRING) or LEN(BYTES)" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("ROUND(1.25)", decimal_of(1, 0)),
        ("ROUND(1.25, 1)", decimal_of(3, 2)),
        ("GREATEST(1.5, 22.25)", decimal_of(4, 2)),
        ("COALESCE(NULL, 5000000000)", INT64),
        ("COALESCE(1, 5000000000)", INT64),
        ("ARRAY_CONCAT(ARRAY[1], ARRAY[2])", array_of(INT32)),
        ("MAP_KEYS(MAP('a' := 1))", array_of(STRING)),
    ],
)
def test_the_type_of_a_result_follows_from_those_of_the_arguments(text: str, type_: object) -> None:
    assert resolve(text).type == type_


def test_table_functions_give_an_array_of_rows() -> None:
    items = resolve("ARRAY[1, 2]")
    assert resolve_table_function("explode", [items]).type == array_of(INT32)
    assert resolve_table_function("cube_explode", [items]).type == array_of(array_of(INT32))
