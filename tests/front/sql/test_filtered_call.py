from __future__ import annotations

import pytest

from penstock.front.sql.format import format_statement
from penstock.front.sql.parse import parse_statement
from tests.front.sql.script import STREAM, Script, refusal


def test_an_aggregate_takes_the_rows_for_which_its_filter_holds() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) FILTER (WHERE v > 3) AS n,"
        " COUNT(DISTINCT v) FILTER (WHERE v > 1) AS d, SUM(v) FILTER (WHERE v < 3) AS x,"
        " COUNT(*) AS filter FROM s GROUP BY k HAVING COUNT(*) FILTER (WHERE v = 4) > 0;"
    )
    for value in (1, 2, 2, 5):
        assert script.push("s", "a", {"V": value}) == []
    assert script.push("s", "a", {"V": 4}) == [(b"a", {"N": 2, "D": 3, "X": 5, "FILTER": 5}, 0)]


def test_a_filter_is_written_as_it_was_read() -> None:
    text = "SELECT COUNT(*) FILTER (WHERE V > 3) AS N, FILTER(L, X => X > 1) AS M FROM S;"
    made = parse_statement(text)
    assert parse_statement(format_statement(made)) == made
    assert "FILTER (WHERE V > 3)" in format_statement(made)


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ("COLLECT_LIST(v) FILTER (WHERE v > 1)", "SQL_UNSUPPORTED"),
        ("ABS(v) FILTER (WHERE v > 1)", "SQL_FUNCTION_PLACE"),
    ],
)
def test_a_filter_of_what_cannot_have_one_is_refused(item: str, code: str) -> None:
    assert (
        refusal(f"{STREAM} CREATE TABLE o AS SELECT k, {item} AS x FROM s GROUP BY k;").code == code
    )
