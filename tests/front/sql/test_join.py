from __future__ import annotations

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal

OTHER = "CREATE STREAM r (k STRING KEY, w INT) WITH (KAFKA_TOPIC='r', VALUE_FORMAT='JSON');"
RIGHT = "CREATE TABLE u (k STRING PRIMARY KEY, w INT) WITH (KAFKA_TOPIC='u', VALUE_FORMAT='JSON');"
MANY = (
    "CREATE TABLE m (id STRING PRIMARY KEY, f STRING) WITH (KAFKA_TOPIC='m', VALUE_FORMAT='JSON');"
)
ALL = f"{STREAM} {TABLE} {OTHER} {RIGHT} {MANY}"


def test_streams_meet_within_a_time_and_carry_the_later_one() -> None:
    script = Script(
        f"{ALL} CREATE STREAM o AS SELECT s.k, v, w FROM s JOIN r WITHIN 1 SECOND ON s.k = r.k;"
    )
    assert script.push("s", "a", {"V": 1}, 0) == []
    assert script.push("r", "a", {"W": 2}, 1_000) == [(b"a", {"V": 1, "W": 2}, 1_000)]
    assert script.push("r", "a", {"W": 3}, 1_001) == []


def test_a_left_row_without_a_partner_comes_at_once_and_is_not_taken_back() -> None:
    script = Script(
        f"{ALL} CREATE STREAM o AS SELECT s.k, v, w FROM s"
        " LEFT JOIN r WITHIN 1 SECOND ON s.k = r.k;"
    )
    assert script.push("s", "a", {"V": 1}) == [(b"a", {"V": 1, "W": None}, 0)]
    assert script.push("r", "a", {"W": 2}) == [(b"a", {"V": 1, "W": 2}, 0)]


def test_with_grace_it_waits_for_the_window_to_close() -> None:
    script = Script(
        f"{ALL} CREATE STREAM o AS SELECT s.k, v, w FROM s"
        " LEFT JOIN r WITHIN 1 SECOND GRACE PERIOD 1 SECOND ON s.k = r.k;"
    )
    assert script.push("s", "a", {"V": 1}) == []
    assert script.push("r", "b", {"W": 1}, 1_500) == []
    assert script.push("s", "c", {"V": 1}, 2_500) == []
    late = script.push("r", "c", {"W": 1}, 2_501)
    assert (b"a", {"V": 1, "W": None}, 0) in late


def test_a_stream_finds_the_row_that_a_table_has() -> None:
    script = Script(f"{ALL} CREATE STREAM o AS SELECT s.k, v, w FROM s JOIN u ON s.k = u.k;")
    assert script.push("s", "a", {"V": 1}) == []
    assert script.push("u", "a", {"W": 2}) == []
    assert script.push("s", "a", {"V": 1}) == [(b"a", {"V": 1, "W": 2}, 0)]
    script.push("u", "a", None)
    assert script.push("s", "a", {"V": 1}) == []


def test_tables_give_an_update_for_each_change_of_a_side() -> None:
    script = Script(f"{ALL} CREATE TABLE o AS SELECT t.k, v, w FROM t JOIN u ON t.k = u.k;")
    assert script.push("t", "a", {"V": 1}, 1) == []
    assert script.push("u", "a", {"W": 2}, 2) == [(b"a", {"V": 1, "W": 2}, 2)]
    assert script.push("u", "a", {"W": 2}, 1) == [(b"a", {"V": 1, "W": 2}, 1)]
    assert script.push("t", "a", None, 5) == [(b"a", None, 5)]
    assert script.push("u", "a", None, 6) == []


def test_a_full_join_of_tables_has_a_key_of_its_own() -> None:
    script = Script(f"{ALL} CREATE TABLE o AS SELECT ROWKEY, v, w FROM t FULL JOIN u ON t.k = u.k;")
    assert script.push("u", "a", {"W": 2}) == [(b"a", {"V": None, "W": 2}, 0)]
    assert script.push("t", "a", {"V": 1}) == [(b"a", {"V": 1, "W": 2}, 0)]
    assert script.push("u", "a", None) == [(b"a", {"V": 1, "W": None}, 0)]
    assert script.push("t", "a", None) == [(b"a", None, 0)]


def test_a_foreign_key_follows_its_row() -> None:
    script = Script(f"{ALL} CREATE TABLE o AS SELECT id, w FROM m JOIN u ON m.f = u.k;")
    script.push("u", "x", {"W": 1})
    assert script.push("m", "a", {"F": "x"}) == [(b"a", {"W": 1}, 0)]
    assert script.push("u", "x", {"W": 2}) == [(b"a", {"W": 2}, 0)]
    assert script.push("m", "a", {"F": "y"}) == [(b"a", None, 0)]
    assert script.push("u", "x", {"W": 3}) == []
    assert script.push("m", "a", None) == [(b"a", None, 0)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.k, v, w FROM s JOIN r ON s.k = r.k",
        "SELECT s.k, v, w FROM s JOIN r WITHIN 1 SECOND ON s.k > r.k",
        "SELECT s.k, v, w FROM s JOIN r WITHIN 1 SECOND ON s.k = s.k",
        "SELECT s.k, v, w FROM s JOIN r WITHIN 1 SECOND ON s.v = r.k",
        "SELECT s.k, v, w FROM s JOIN u ON s.v = u.w",
        "SELECT s.k, v, w FROM s JOIN u WITHIN 1 SECOND ON s.k = u.k",
        "SELECT s.k, v, w FROM s FULL JOIN u ON s.k = u.k",
        "SELECT s.k, v, w FROM u JOIN s ON s.k = u.k",
        "SELECT s.k, v FROM s JOIN s WITHIN 1 SECOND ON s.k = s.k",
    ],
)
def test_a_join_that_cannot_be_is_refused(query: str) -> None:
    assert refusal(f"{ALL} CREATE STREAM o AS {query};").code in (
        "SQL_JOIN",
        "SQL_COLUMN_AMBIGUOUS",
    )


def test_keys_in_windows_meet_in_the_same_window_only() -> None:
    windowed = "WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON', WINDOW_TYPE='SESSION')"
    script = Script(
        f"CREATE STREAM a (k STRING KEY, v INT) {windowed.format('a')};"
        f"CREATE STREAM b (k STRING KEY, w INT) {windowed.format('b')};"
        "CREATE STREAM o AS SELECT a.k, v, w FROM a JOIN b WITHIN 1 HOUR ON a.k = b.k;"
    )
    one, other = ("k" + "\0" * 7 + end + "\0" * 8 for end in ("\2", "\3"))
    assert script.push("a", one, {"V": 1}) == []
    assert script.push("b", other, {"W": 2}) == []
    assert script.push("b", one, {"W": 3}) == [(one.encode(), {"V": 1, "W": 3}, 0)]
