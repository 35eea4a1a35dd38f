from __future__ import annotations

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal


def test_the_rows_of_a_query_are_a_source() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT x.w, COUNT(*) AS n, MAX(ROWTIME) AS t"
        " FROM (SELECT v * 10 AS w FROM s WHERE v > 1) x GROUP BY x.w;"
    )
    assert script.push("s", "a", {"V": 1}) == []
    assert script.push("s", "a", {"V": 2}, 7) == [(b"\0\0\0\x14", {"N": 1, "T": 7}, 7)]


def test_what_groups_give_is_a_table_to_the_query_around_it() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT x.n, COUNT(*) AS c"
        " FROM (SELECT k, COUNT(*) AS n FROM s GROUP BY k) x GROUP BY x.n;"
    )
    script.push("s", "a", {"V": 1})
    script.push("s", "b", {"V": 1})
    script.push("s", "b", {"V": 1})
    last: dict[bytes, object] = {}
    for row in script.push("s", "c", {"V": 1}):
        last[row[0]] = row[1]
    assert last == {b"\0" * 7 + b"\1": {"C": 2}}


def test_a_query_is_joined_as_a_source_is() -> None:
    script = Script(
        f"{STREAM}{TABLE} CREATE STREAM o AS SELECT q.k, q.w, t.v"
        " FROM (SELECT k, v + 1 AS w FROM s) q JOIN t ON q.k = t.k;"
    )
    script.push("t", "a", {"V": 5})
    assert [row[1] for row in script.push("s", "a", {"V": 1})] == [{"W": 2, "V": 5}]


@pytest.mark.parametrize(
    ("inner", "code"),
    [
        ("SELECT k, v FROM s LIMIT 3", "SQL_LIMIT"),
        ("SELECT k, v FROM s EMIT CHANGES", "SQL_UNSUPPORTED"),
        ("SELECT k, v FROM s ORDER BY v", "SQL_UNSUPPORTED"),
        ("SELECT k, v FROM nothing", "SQL_SOURCE_MISSING"),
        ("SELECT 1 AS k, 2 AS v", "SQL_UNSUPPORTED"),
    ],
)
def test_what_only_the_outermost_query_can_say_is_refused_inside(inner: str, code: str) -> None:
    text = f"{STREAM} CREATE STREAM o AS SELECT k, v FROM ({inner}) x;"
    assert refusal(text).code == code
