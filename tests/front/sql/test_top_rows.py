from __future__ import annotations

from typing import Any

import pytest

from tests.front.sql.script import STREAM, TABLE, Script, refusal

PLACES = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS place"


def table_of(script: Script, topic: str, *rows: tuple[str, Any]) -> dict[Any, Any]:
    """Give records one by one; get the last value of each key that is there."""
    last: dict[Any, Any] = {}
    for time, (key, value) in enumerate(rows):
        last.update({name: row for name, row, _ in script.push(topic, key, value, time)})
    return {name: row for name, row in last.items() if row is not None}


def test_the_first_row_of_each_group_is_a_row_of_a_table() -> None:
    query = f"SELECT k, v FROM (SELECT k, v, {PLACES} FROM s) WHERE place = 1"
    script = Script(f"{STREAM} CREATE TABLE o AS {query};")
    rows = [("a", {"V": 2}), ("b", {"V": 4}), ("a", {"V": 7}), ("a", {"V": 1})]
    assert table_of(script, "s", *rows) == {b"a": {"V": 7}, b"b": {"V": 4}}


def test_several_rows_of_a_group_are_told_apart_by_their_places() -> None:
    query = f"SELECT k, v, place FROM (SELECT *, {PLACES} FROM s) AS x WHERE x.place < 3 AND v > 1"
    script = Script(f"{STREAM} CREATE TABLE o WITH (KEY_FORMAT='JSON') AS {query};")
    found = table_of(script, "s", *(("a", {"V": v}) for v in (5, 1, 9, 6)))
    assert found == {b'{"K":"a","PLACE":1}': {"V": 9}, b'{"K":"a","PLACE":2}': {"V": 6}}


def test_rows_of_a_table_move_up_when_one_is_deleted_and_groups_are_made_of_them() -> None:
    places = "ROW_NUMBER() OVER (PARTITION BY v % 2 ORDER BY v DESC, k) AS place"
    script = Script(
        f"{TABLE} CREATE TABLE o WITH (KEY_FORMAT='JSON') AS"
        " SELECT v % 2 AS odd, COLLECT_LIST(k) AS ks, SUM(v) AS n"
        f" FROM (SELECT k, v, {places} FROM t) WHERE place <= 2 GROUP BY v % 2;"
    )
    rows = [("a", {"V": 2}), ("b", {"V": 4}), ("c", {"V": 2}), ("b", None)]
    (last,) = table_of(script, "t", *rows).values()
    assert last["N"] == 4
    assert sorted(last["KS"]) == ["a", "c"]


def test_rows_that_share_a_place_are_given_once_when_their_window_closes() -> None:
    places = "RANK() OVER (PARTITION BY WINDOWSTART ORDER BY v DESC) AS place"
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT k, v, starts FROM (SELECT k, v, WINDOWSTART AS starts,"
        f" {places} FROM s WINDOW TUMBLING (SIZE 1 SECOND)) WHERE place = 1 EMIT FINAL;"
    )
    for key, value, time in (("a", 5, 1100), ("b", 5, 1200), ("c", 1, 1300)):
        assert script.push("s", key, {"V": value}, time) == []
    found = script.push("s", "d", {"V": 1}, 2000)
    assert [row[1] for row in found] == [
        {"K": "a", "V": 5, "STARTS": 1000},
        {"K": "b", "V": 5, "STARTS": 1000},
    ]


def test_groups_of_windows_that_close_are_ranked_in_them() -> None:
    counted = "SELECT v, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 2 SECONDS, ADVANCE BY 1 SECOND)"
    places = "RANK() OVER (PARTITION BY WINDOWSTART, WINDOWEND ORDER BY n DESC) AS place"
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT v, n, ends FROM (SELECT v, n, WINDOWEND AS ends,"
        f" {places} FROM ({counted} GROUP BY v)) WHERE place = 1 EMIT FINAL;"
    )
    given = []
    for value, time in ((1, 0), (1, 100), (2, 1500), (2, 1600), (2, 1700), (3, 9000)):
        given += script.push("s", "a", {"V": value}, time)
    assert [row[1] for row in given] == [
        {"V": 1, "N": 2, "ENDS": 1000},
        {"V": 2, "N": 3, "ENDS": 2000},
        {"V": 2, "N": 3, "ENDS": 3000},
    ]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT k, v FROM (SELECT k, v, {PLACES} FROM s)",
        f"SELECT k, v FROM (SELECT k, v, {PLACES} FROM s) WHERE place = 2",
        f"SELECT k, v FROM (SELECT k, v, {PLACES} FROM s) WHERE place > 2",
        "SELECT k FROM (SELECT k, ROW_NUMBER() OVER (PARTITION BY k) AS p FROM s) WHERE p = 1",
        "SELECT k FROM (SELECT k, ROW_NUMBER() OVER (ORDER BY v) FROM s) WHERE k = 'a'",
        "SELECT k FROM (SELECT k, RANK() OVER (PARTITION BY k ORDER BY v) AS p FROM s) WHERE p = 1",
        "SELECT k, v FROM (SELECT k, v, RANK() OVER (PARTITION BY k ORDER BY v) AS p FROM s"
        " WINDOW TUMBLING (SIZE 1 SECOND)) WHERE p = 1 EMIT FINAL",
        f"SELECT k, v FROM (SELECT k, v, {PLACES}, ROW_NUMBER() OVER (ORDER BY v) AS q FROM s)"
        " WHERE place = 1",
        f"SELECT k FROM (SELECT k, COUNT(*) AS v, {PLACES} FROM s GROUP BY k) WHERE place = 1",
    ],
)
def test_places_that_cannot_be_told_are_refused_with_what_to_do(query: str) -> None:
    error = refusal(f"{STREAM} CREATE STREAM o AS {query};")
    assert error.code == "SQL_OVER"
    assert error.hint


def test_a_question_that_goes_on_is_told_what_comes_first_and_what_is_gone() -> None:
    query = f"SELECT k, v FROM (SELECT k, v, {PLACES} FROM s) WHERE place = 1 EMIT CHANGES"
    script = Script(f"{STREAM} {query};")
    assert [row["V"] for row in script.push("s", "a", {"V": 1})] == [1]
    assert [row["V"] for row in script.push("s", "a", {"V": 3})] == [3]
    assert script.push("s", "a", {"V": 2}) == []


def test_rows_know_the_window_they_lie_in() -> None:
    script = Script(
        f"{STREAM} CREATE STREAM o AS SELECT k, v, WINDOWSTART AS b, WINDOWEND AS e FROM s"
        " WINDOW TUMBLING (SIZE 1 SECOND, OFFSET 200 MILLISECONDS);"
    )
    found = script.push("s", "a", {"V": 1}, 2100)
    assert [row[1] for row in found] == [{"V": 1, "B": 1200, "E": 2200}]
