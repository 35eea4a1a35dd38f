from __future__ import annotations

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal

MAPS = (
    "CREATE STREAM m (k STRING KEY, v MAP<STRING, INT>)"
    " WITH (KAFKA_TOPIC='m', VALUE_FORMAT='JSON');"
)


def test_a_row_of_a_stream_comes_once() -> None:
    script = Script(f"{STREAM} CREATE STREAM o AS SELECT DISTINCT k, v FROM s;")
    assert script.push("s", "a", {"V": 1}) == [(b"a", {"V": 1}, 0)]
    assert script.push("s", "a", {"V": 1}) == []
    assert script.push("s", "a", None) == []
    assert script.push("s", "a", {"V": None}) == [(b"a", {"V": None}, 0)]


def test_the_rows_of_a_table_are_distinct_by_their_key() -> None:
    script = Script(f"{TABLE} CREATE TABLE o AS SELECT DISTINCT k, v FROM t;")
    assert script.push("t", "a", {"V": 1}) == [(b"a", {"V": 1}, 0)]
    assert script.push("t", "a", None) == [(b"a", None, 0)]


def test_two_streams_become_one() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT k, v FROM s WHERE v > 1"
        " UNION ALL SELECT k AS other, v * 10 AS w FROM s;"
    )
    assert [row[1] for row in script.push("s", "a", {"V": 2})] == [{"V": 2}, {"V": 20}]


def test_a_row_of_both_comes_once_without_all() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT k, v FROM s UNION SELECT k, ABS(v) AS v FROM s;"
    )
    assert [row[1] for row in script.push("s", "a", {"V": 2})] == [{"V": 2}]
    assert [row[1] for row in script.push("s", "a", {"V": -2})] == [{"V": -2}]


def test_null_is_of_the_type_of_the_other_column() -> None:
    script = Script(
        f"{STREAM} SELECT k, NULL AS x FROM s UNION ALL SELECT k, k AS x FROM s EMIT CHANGES;"
    )
    assert [row["X"] for row in script.push("s", "a", {"V": 1})] == [None, "a"]


def test_streams_whose_keys_differ_have_none_together() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT k, CAST(v AS STRING) AS v FROM s"
        " UNION ALL SELECT CAST(v AS STRING) AS a, k AS b FROM s;"
    )
    assert [(row[0], row[1]) for row in script.push("s", "x", {"V": 2})] == [
        (None, {"K": "x", "V": "2"}),
        (None, {"K": "2", "V": "x"}),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{STREAM} SELECT k FROM s UNION ALL SELECT v FROM s EMIT CHANGES;", "SQL_UNION"),
        (f"{STREAM} SELECT k FROM s UNION SELECT k, v FROM s;", "SQL_UNION"),
        (f"{TABLE} SELECT k FROM t UNION ALL SELECT k FROM t EMIT CHANGES;", "SQL_UNSUPPORTED"),
        (f"{MAPS} SELECT DISTINCT v FROM m EMIT CHANGES;", "SQL_UNSUPPORTED"),
    ],
)
def test_rows_that_cannot_be_put_together_are_refused(text: str, code: str) -> None:
    assert refusal(text).code == code
