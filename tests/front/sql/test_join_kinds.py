from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.log.record import Record
from tests.front.sql.script import Script, refusal

SOURCES = """
CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');
CREATE STREAM r (k STRING KEY, w INT) WITH (KAFKA_TOPIC='r', VALUE_FORMAT='JSON');
CREATE TABLE t (k STRING PRIMARY KEY, f STRING) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');
CREATE TABLE u (k STRING PRIMARY KEY, x INT) WITH (KAFKA_TOPIC='u', VALUE_FORMAT='JSON');
CREATE TABLE d (a STRING PRIMARY KEY, b INT PRIMARY KEY, n INT)
    WITH (KAFKA_TOPIC='d', VALUE_FORMAT='JSON', KEY_FORMAT='JSON');
"""


def run(query: str, kind: str = "STREAM") -> Script:
    return Script(f"{SOURCES} CREATE {kind} o AS {query};")


def values(found: list[Any]) -> list[Any]:
    return [value for _, value, _ in found]


def test_semi_gives_a_row_with_its_first_partner_and_anti_one_that_has_none() -> None:
    semi = run("SELECT * FROM s SEMI JOIN r WITHIN 2 SECONDS ON s.k = r.k")
    anti = run("SELECT * FROM s ANTI JOIN r WITHIN 2 SECONDS ON s.k = r.k")
    given: dict[str, list[Any]] = {"semi": [], "anti": []}
    rows: list[tuple[str, str, dict[str, int], int]] = [
        ("s", "a", {"V": 1}, 0),
        ("r", "a", {"W": 1}, 1_000),
        ("r", "a", {"W": 2}, 1_100),
        ("s", "b", {"V": 2}, 1_000),
        ("s", "c", {"V": 3}, 9_000),
        ("r", "c", {"W": 3}, 9_000),
    ]
    for row in rows:
        given["semi"] += semi.push(*row)
        given["anti"] += anti.push(*row)
    assert given["semi"] == [(b"a", {"V": 1}, 0), (b"c", {"V": 3}, 9_000)]
    assert given["anti"] == [(b"b", {"V": 2}, 1_000)]


def test_a_table_without_partners_in_another_is_kept_up_to_date() -> None:
    script = run("SELECT * FROM u ANTI JOIN t ON u.k = t.f", "TABLE")
    assert script.push("u", "a", {"X": 1}) == [(b"a", {"X": 1}, 0)]
    assert script.push("t", "1", {"F": "a"}) == [(b"a", None, 0)]
    assert script.push("t", "2", {"F": "a"}) == []
    assert script.push("t", "1", None) == []
    assert script.push("t", "2", {"F": "b"}, 4) == [(b"a", {"X": 1}, 4)]


def test_a_deletion_has_its_own_time_or_the_later_one_of_the_partner() -> None:
    script = run("SELECT t.k, f, x FROM t JOIN u ON t.k = u.k", "TABLE")
    script.push("t", "a", {"F": ""}, 10)
    assert script.push("u", "a", {"X": 1}, 2) == [(b"a", {"F": "", "X": 1}, 10)]
    assert script.push("t", "a", None, 5) == [(b"a", None, 5)]
    script.push("t", "a", {"F": ""}, 7)
    assert script.push("u", "a", None, 3) == [(b"a", None, 7)]


def test_rows_meet_in_one_window_and_come_alone_when_it_closes() -> None:
    script = run(
        "SELECT s.k, v, w FROM s LEFT JOIN r"
        " WITHIN TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS) ON s.k = r.k"
    )
    script.push("s", "a", {"V": 1}, 6_000)
    assert script.push("r", "a", {"W": 1}, 9_000) == [(b"a", {"V": 1, "W": 1}, 9_999)]
    assert script.push("r", "b", {"W": 2}, 15_000) == []
    assert script.push("s", "b", {"V": 2}, 9_999) == []
    assert script.push("s", "c", {"V": 3}, 15_000) == [(b"b", {"V": 2, "W": None}, 9_999)]


def test_a_row_finds_the_version_valid_at_its_time() -> None:
    script = run(
        "SELECT s.k, v, x FROM s ASOF JOIN u BY EVENT TIME CORRECTED KEEP 1 HOUR ON s.k = u.k"
    )
    script.push("u", "a", {"X": 1}, 0)
    script.push("u", "a", {"X": 5}, 5_000)
    assert values(script.push("s", "a", {"V": 1}, 3_000)) == [{"V": 1, "X": 1}]
    assert values(script.push("s", "a", {"V": 2}, 6_000)) == [{"V": 2, "X": 5}]
    assert script.push("u", "a", {"X": 2}, 2_000) == [(b"a", {"V": 1, "X": 2}, 3_000)]


def test_a_row_waits_until_the_version_at_its_time_is_known() -> None:
    script = run("SELECT s.k, v, x FROM s LEFT ASOF JOIN u BY EVENT TIME WAITING ON s.k = u.k")
    script.push("u", "a", {"X": 1}, 2_000)
    assert script.push("s", "a", {"V": 1}, 3_000) == []
    script.push("u", "a", {"X": 2}, 2_500)
    script.push("u", "b", {"X": 0}, 9_000)
    assert values(script.push("s", "b", {"V": 0}, 9_000)) == [{"V": 1, "X": 2}]


def test_a_table_that_is_silent_holds_back_nothing_that_waits_for_the_stream() -> None:
    script = run(
        "SELECT m.k, n, x FROM (SELECT s.k AS k, v, x FROM s JOIN u ON s.k = u.k)"
        " MATCH_RECOGNIZE (PARTITION BY k MEASURES COUNT(*) AS n, LAST(x) AS x PATTERN (a a)) m"
    )
    script.push("u", "a", {"X": 5}, 0)
    script.push("s", "a", {"V": 1}, 1_000)
    script.push("s", "a", {"V": 2}, 2_000)
    assert script.push("s", "a", {"V": 3}, 3_000) == [(b"a", {"N": 2, "X": 5}, 2_000)]


def test_the_versions_of_a_table_tell_from_when_to_when_they_were_valid() -> None:
    script = Script(
        f"{SOURCES} CREATE TABLE o WITH (KEY_FORMAT='JSON') AS SELECT * FROM u.VERSIONS;"
    )
    begins = [json.dumps({"K": "a", "VALID_FROM": time}, separators=(",", ":")) for time in (1, 9)]
    one, two = (item.encode() for item in begins)
    assert script.push("u", "a", {"X": 1}, 1) == [(one, {"VALID_TO": None, "X": 1}, 1)]
    assert sorted(values(script.push("u", "a", {"X": 2}, 9)), key=str) == [
        {"VALID_TO": 9, "X": 1},
        {"VALID_TO": None, "X": 2},
    ]
    assert (one, {"VALID_TO": 5, "X": 1}, 1) in script.push("u", "a", {"X": 3}, 5)
    assert script.push("u", "a", None, 20) == [(two, {"VALID_TO": 20, "X": 2}, 9)]
    assert refusal(f"{SOURCES} SELECT * FROM s.VERSIONS EMIT CHANGES;").code == "SQL_SOURCE_KIND"


def test_keys_of_several_columns_are_compared_one_by_one() -> None:
    script = run("SELECT t.k, n FROM t JOIN d ON t.f = d.a AND LEN(t.f) = d.b", "TABLE")
    script.push("d", '{"A": "xy", "B": 2}', {"N": 4})
    assert script.push("t", "1", {"F": "xy"}) == [(b"1", {"N": 4}, 0)]
    assert script.push("d", '{"A": "xy", "B": 2}', {"N": 5}) == [(b"1", {"N": 5}, 0)]
    assert script.push("t", "1", {"F": "x"}) == [(b"1", None, 0)]


def test_streams_and_tables_are_joined_in_any_mix() -> None:
    script = run(
        "SELECT s.k, v, w, x FROM s JOIN r WITHIN 1 HOUR ON s.k = r.k"
        " LEFT ASOF JOIN u BY ARRIVAL ON s.k = u.k SEMI JOIN t ON s.k = t.k"
    )
    script.push("u", "a", {"X": 5})
    script.push("s", "a", {"V": 1})
    assert script.push("r", "a", {"W": 2}) == []
    script.push("t", "a", {"F": ""})
    assert script.push("r", "a", {"W": 3}) == [(b"a", {"V": 1, "W": 3, "X": 5}, 0)]


def test_tables_with_keys_in_windows_meet_in_the_same_window() -> None:
    windowed = "WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON', WINDOW_TYPE='{1}')"
    tables = (
        f"CREATE TABLE a (k STRING PRIMARY KEY, v INT) {windowed.format('a', 'SESSION')};"
        f"CREATE TABLE b (k STRING PRIMARY KEY, w INT) {windowed.format('b', 'SESSION')};"
    )
    script = Script(f"{tables} CREATE TABLE o AS SELECT a.k, v, w FROM a JOIN b ON a.k = b.k;")
    one, other = ("k" + "\0" * 7 + end + "\0" * 8 for end in ("\2", "\3"))
    assert script.push("a", one, {"V": 1}) == []
    assert script.push("b", other, {"W": 2}) == []
    assert script.push("b", one, {"W": 3}) == [(one.encode(), {"V": 1, "W": 3}, 0)]
    assert script.push("a", one, None, 9) == [(one.encode(), None, 9)]
    mixed = tables.replace("'SESSION'", "'TUMBLING', WINDOW_SIZE='1 SECOND'", 1)
    error = refusal(f"{mixed} CREATE TABLE o AS SELECT a.k, v, w FROM a JOIN b ON a.k = b.k;")
    assert error.code == "SQL_JOIN"


def test_the_headers_of_the_later_row_go_along() -> None:
    script = run("SELECT s.k, v, w FROM s JOIN r WITHIN 1 SECOND ON s.k = r.k")

    def push(topic: str, value: dict[str, int], time: int) -> list[Any]:
        headers = ((topic, b"!"),)
        text = json.dumps(value).encode()
        script.driver.push(topic, [Record(topic, 0, 0, time, b"a", text, headers)])
        return [
            [(item["key"], item["value"]) for item in row["_headers"]]
            for row in script.driver.take("O")
        ]

    assert push("s", {"V": 1}, 10) == []
    assert push("r", {"W": 2}, 11) == [[("r", b"!")]]
    assert push("r", {"W": 2}, 9) == [[("s", b"!")]]


@pytest.mark.parametrize(
    ("query", "underlined"),
    [
        ("SELECT s.k, v FROM s ASOF JOIN r ON s.k = r.k", "s ASOF JOIN"),
        ("SELECT t.k, f FROM t ASOF JOIN u ON t.k = u.k", "t ASOF JOIN"),
        ("SELECT s.k, v FROM s ASOF JOIN u BY ARRIVAL KEEP 1 DAY ON s.k = u.k", "BY ARRIVAL"),
        ("SELECT s.k, v FROM s ASOF JOIN u BY ARRIVAL WAITING ON s.k = u.k", "BY ARRIVAL"),
        ("SELECT s.k, v FROM s JOIN u WITHIN SESSION (1 SECOND) ON s.k = u.k", "s JOIN u"),
        ("SELECT s.k, v FROM s JOIN r WITHIN GLOBAL ON s.k = r.k", "GLOBAL"),
        ("SELECT s.k, v FROM s JOIN r WITHIN (1 SECOND, -2 SECONDS) ON s.k = r.k", "WITHIN (1"),
        ("SELECT s.k, v FROM s JOIN r WITHIN 1 SECOND ON s.k = 'a'", "s.k = 'a'"),
        ("SELECT t.k, f FROM t JOIN u ON t.k = u.k AND f > 1", "f > 1"),
        ("SELECT s.k, v FROM s JOIN d ON s.k = d.a", "s JOIN d"),
        ("SELECT t.k, f FROM t FULL JOIN u ON t.f = u.k", "t FULL JOIN u"),
    ],
)
def test_a_join_that_cannot_be_is_underlined(query: str, underlined: str) -> None:
    error = refusal(f"{SOURCES} CREATE STREAM o AS {query};")
    assert error.code == "SQL_JOIN"
    assert error.hint
    *_, line, marks = error.fact.split("\n")
    assert line[marks.index("^") :].startswith(underlined)


def test_a_key_of_unnamed_parts_is_refused() -> None:
    query = "SELECT s.k, v FROM s FULL JOIN r WITHIN 1 SECOND ON s.k = r.k AND s.v = r.w"
    assert refusal(f"{SOURCES} CREATE STREAM o AS {query};").code == "SQL_UNSUPPORTED"
