from __future__ import annotations

import struct

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal


def _start(key: bytes) -> tuple[bytes, int]:
    return key[:-8], struct.unpack(">q", key[-8:])[0]


def _session(key: bytes) -> tuple[int, int]:
    end, start = struct.unpack(">qq", key[-16:])
    return start, end


def test_every_row_gives_its_update_also_where_nothing_changed() -> None:
    script = Script(f"{STREAM} CREATE TABLE o AS SELECT k, MAX(v) AS most FROM s GROUP BY k;")
    assert script.push("s", "a", {"V": 5}) == [(b"a", {"MOST": 5}, 0)]
    assert script.push("s", "a", {"V": 4}, 3) == [(b"a", {"MOST": 5}, 3)]
    assert script.push("s", None, {"V": 4}) == []
    assert script.push("s", "a", None) == []


def test_having_deletes_only_what_was_there() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, SUM(v) AS total FROM s GROUP BY k HAVING SUM(v) > 1;"
    )
    assert script.push("s", "a", {"V": 1}) == []
    assert script.push("s", "a", {"V": 1}) == [(b"a", {"TOTAL": 2}, 0)]
    assert script.push("s", "a", {"V": -1}) == [(b"a", None, 0)]


def test_a_row_of_a_table_is_counted_once_however_often_it_changes() -> None:
    script = Script(
        f"{TABLE} CREATE TABLE o WITH (KEY_FORMAT='JSON') AS"
        " SELECT v, COUNT(*) AS n FROM t GROUP BY v;"
    )
    assert script.push("t", "a", {"V": 1}) == [(b"1", {"N": 1}, 0)]
    assert sorted(script.push("t", "a", {"V": 2})) == [(b"1", {"N": 0}, 0), (b"2", {"N": 1}, 0)]
    assert script.push("t", "a", None) == [(b"2", {"N": 0}, 0)]


def test_windows_have_their_bounds_behind_the_key() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) AS n, WINDOWSTART AS b, WINDOWEND AS e"
        " FROM s WINDOW HOPPING (SIZE 20 SECONDS, ADVANCE BY 10 SECONDS) GROUP BY k;"
    )
    assert [
        (_start(key), value, time) for key, value, time in script.push("s", "a", {}, 12_000)
    ] == [
        ((b"a", 0), {"N": 1, "B": 0, "E": 20_000}, 12_000),
        ((b"a", 10_000), {"N": 1, "B": 10_000, "E": 30_000}, 12_000),
    ]


def test_a_row_after_the_grace_is_late() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s"
        " WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS) GROUP BY k;"
    )
    script.push("s", "a", {}, 14_999)
    assert len(script.push("s", "a", {}, 1)) == 1
    script.push("s", "a", {}, 15_000)
    assert script.push("s", "a", {}, 2) == []


def test_sessions_that_merge_leave_their_old_windows() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s"
        " WINDOW SESSION (1 SECOND) GROUP BY k;"
    )
    script.push("s", "a", {}, 0)
    assert len(script.push("s", "a", {}, 0)) == 1
    made = [(_session(key), value) for key, value, _ in script.push("s", "a", {}, 700)]
    assert made == [((0, 0), None), ((0, 700), {"N": 3})]


def test_emit_final_gives_a_window_once() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s"
        " WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY k EMIT FINAL;"
    )
    assert script.push("s", "a", {}, 1) == []
    assert script.push("s", "a", {}, 2) == []
    assert [value for _, value, _ in script.push("s", "a", {}, 10_000)] == [{"N": 2}]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT k, COUNT(*) FROM s", "SQL_GROUP_BY"),
        ("SELECT k, v FROM s GROUP BY k", "SQL_GROUP_BY"),
        ("SELECT k, v, COUNT(*) FROM s GROUP BY k", "SQL_GROUP_BY"),
        ("SELECT COUNT(*) FROM s GROUP BY k", "SQL_KEY"),
        ("SELECT k, k AS l, COUNT(*) FROM s GROUP BY k", "SQL_KEY"),
        ("SELECT k, COUNT(*) FROM s GROUP BY k EMIT FINAL", "SQL_EMIT"),
        ("SELECT k, COUNT(*) FROM s WINDOW TUMBLING (SIZE 0 SECONDS) GROUP BY k", "SQL_WINDOW"),
        (
            "SELECT k, COUNT(*) FROM s WINDOW HOPPING (SIZE 1 SECOND, ADVANCE BY 2 SECONDS)"
            " GROUP BY k",
            "SQL_WINDOW",
        ),
        ("SELECT k, LATEST_BY_OFFSET(v) FROM t GROUP BY k", "SQL_FUNCTION_PLACE"),
    ],
)
def test_an_aggregate_that_cannot_be_is_refused(query: str, code: str) -> None:
    assert refusal(f"{STREAM} {TABLE} CREATE TABLE o AS {query};").code == code
