from __future__ import annotations

import pytest

from penstock.front.sql.parse import parse_statement
from penstock.front.sql.plain_query import plain_query
from penstock.front.sql.tree_statement import QueryStatement
from tests.front.sql.script import STREAM, Script, refusal


def test_a_name_of_with_stands_for_its_query() -> None:
    statement = parse_statement(
        "WITH a AS (SELECT k FROM s), b AS (SELECT k FROM a) SELECT k FROM b AS x;"
    )
    written_out = parse_statement("SELECT k FROM (SELECT k FROM (SELECT k FROM s) AS a) AS x;")
    assert isinstance(statement, QueryStatement)
    assert isinstance(written_out, QueryStatement)
    assert plain_query(statement.query, statement.source) == written_out.query


def test_a_name_of_with_hides_a_source_and_is_not_known_to_itself() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o AS WITH s AS (SELECT k, v + 1 AS v FROM s) SELECT * FROM s;"
    )
    assert script.push("s", "a", {"V": 1}) == [(b"a", {"V": 2}, 0)]


def test_two_queries_of_one_name_are_refused() -> None:
    text = f"{STREAM} WITH a AS (SELECT k FROM s), a AS (SELECT k FROM s) SELECT k FROM a;"
    assert refusal(text).code == "SQL_COMMON_TABLE"


@pytest.mark.parametrize(
    ("call", "found"),
    [("COUNT(DISTINCT v)", 1), ("MAX(DISTINCT v)", 1), ("COLLECT_LIST(DISTINCT v)", [1])],
)
def test_an_aggregate_of_each_value_once_is_a_function_of_its_own(call: str, found: object) -> None:
    script = Script(f"{STREAM} SELECT k, {call} AS n FROM s GROUP BY k EMIT CHANGES;")
    script.push("s", "a", {"V": 1})
    assert [row["N"] for row in script.push("s", "a", {"V": 1})] == [found]


@pytest.mark.parametrize(
    ("call", "code"),
    [("SUM(DISTINCT v)", "SQL_UNSUPPORTED"), ("ABS(DISTINCT v)", "SQL_FUNCTION_PLACE")],
)
def test_distinct_that_means_nothing_is_refused(call: str, code: str) -> None:
    assert refusal(f"{STREAM} SELECT {call} AS n FROM s EMIT CHANGES;").code == code
