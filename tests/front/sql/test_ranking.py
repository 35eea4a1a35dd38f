from __future__ import annotations

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal

BEST = (
    "CREATE TABLE o AS SELECT k, SUM(v) AS n, MAX(v) % 2 AS odd FROM s GROUP BY k"
    " ORDER BY n DESC LIMIT 1 BY odd;"
)


def test_the_first_rows_of_each_group_are_kept_up_to_date() -> None:
    script = Script(f"{STREAM} {BEST}")
    last: dict[bytes, object] = {}
    for key, value in (("a", 2), ("b", 4), ("c", 1), ("a", 8), ("b", 3)):
        last.update({name: row for name, row, _ in script.push("s", key, {"V": value})})
    assert {name: row for name, row in last.items() if row is not None} == {
        b"a": {"N": 10, "ODD": 0},
        b"c": {"N": 1, "ODD": 1},
    }


def test_a_row_that_leaves_its_group_makes_room_for_the_next() -> None:
    script = Script(f"{TABLE} CREATE TABLE o AS SELECT k, v FROM t ORDER BY v LIMIT 1 BY v % 1;")
    script.push("t", "a", {"V": 1})
    assert script.push("t", "b", {"V": 2}) == []
    assert sorted(row[:2] for row in script.push("t", "a", None)) == [
        (b"a", None),
        (b"b", {"V": 2}),
    ]


def test_rows_of_a_stream_are_shown_when_they_are_among_the_first() -> None:
    script = Script(f"{STREAM} SELECT k, v FROM s ORDER BY v DESC LIMIT 1 BY k EMIT CHANGES;")
    assert [row["V"] for row in script.push("s", "a", {"V": 1}) if row["_weight"] > 0] == [1]
    assert script.push("s", "a", {"V": 0}) == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("CREATE STREAM o AS SELECT k, v FROM s ORDER BY v LIMIT 1 BY k;", "SQL_UNSUPPORTED"),
        ("SELECT k FROM s ORDER BY k EMIT CHANGES;", "SQL_UNSUPPORTED"),
        ("SELECT k FROM s ORDER BY k, v LIMIT 1 BY k EMIT CHANGES;", "SQL_UNSUPPORTED"),
        ("SELECT ARRAY[v] AS a, k FROM s ORDER BY a LIMIT 1 BY k EMIT CHANGES;", "SQL_ORDER"),
        (
            "SELECT k, v FROM s ORDER BY v NULLS FIRST LIMIT 1 BY k EMIT CHANGES;",
            "SQL_UNSUPPORTED",
        ),
        ("SELECT ARRAY[v] AS a FROM s ORDER BY a;", "SQL_ORDER"),
        ("SELECT k FROM s ORDER BY 2;", "SQL_ORDER"),
        ("SELECT DISTINCT k FROM s ORDER BY v;", "SQL_ORDER"),
    ],
)
def test_an_order_that_cannot_be_is_refused(query: str, code: str) -> None:
    assert refusal(f"{STREAM} {query}").code == code
