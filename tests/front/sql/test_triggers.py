"""Queries with triggers against the same programs in Python: rows pushed, clocks advanced."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

import pytest

import penstock as ps
from penstock.front.sql.statement import Started
from penstock.log.record import Record
from penstock.model.refine import Refinement
from penstock.model.trigger import Trigger
from penstock.model.window import Window
from penstock.testing.driver import TestDriver
from tests.front.sql.script import STREAM, TABLE, Script, outcomes, refusal

ROWS = [(1, 3), (2, 9), (4_000, 1), (12_000, 7), (3_000, 5), (31_000, 2), (11_000, 4)]
"""When, and what."""


def _by_sql(said: str) -> list[tuple[Any, ...]]:
    words, found_window, window = said.partition(" OF WINDOW ")
    window = f"WINDOW {window}" if found_window else ""
    query = f"SELECT k, SUM(v) AS n, COUNT(*) AS m FROM s {window} GROUP BY k EMIT {words}"
    script = Script(f"{STREAM} CREATE STREAM o AS {query};")
    found: list[tuple[Any, ...]] = []
    for time, value in ROWS:
        script.driver.advance_clock("1500ms")
        text = json.dumps({"V": value}).encode()
        script.driver.push("s", [Record("s", 0, 0, time, b"a", text)])
        for row in script.driver.take("O"):
            told = json.loads(row["value"])
            found.append((told["N"], told["M"], told.get("_WEIGHT", 1), row["_time"]))
    return found


def _by_python(
    window: Window | None, trigger: Trigger | None, refinement: Refinement
) -> list[tuple[Any, ...]]:
    app = ps.App("same")
    rows = app.stream("s", schema={"k": str, "v": int, "at": int}, event_time="at")
    grouped = rows.group_by("k")
    grouped = grouped if window is None else grouped.window(window)
    grouped = grouped if trigger is None else grouped.trigger(trigger)
    grouped.refine(refinement).agg(n=ps.sum("v"), m=ps.count()).to("o")
    driver = app.test()
    for time, value in ROWS:
        driver.advance_clock("1500ms")
        driver.push("s", [{"k": "a", "v": value, "at": time}])
    return [(row["n"], row["m"], row["_weight"], row["_time"]) for row in driver.changes("o")]


TEN = "OF WINDOW TUMBLING (SIZE 10 SECONDS)"


@pytest.mark.parametrize(
    ("said", "window", "trigger", "refinement"),
    [
        (
            "RETRACTING WHEN CLOSED, EARLY EVERY 2 SECONDS, LATE EACH ROW, KEEP LATE 1 MINUTE"
            f" {TEN}",
            ps.tumbling("10s"),
            ps.when_closed(early=ps.every("2s"), late=ps.each_row()),
            ps.retracting(keep_late="1m"),
        ),
        (f"DISCARDING EACH ROW {TEN}", ps.tumbling("10s"), ps.each_row(), ps.discarding()),
        (
            f"EVERY 2 ROWS, STAMP LATEST {TEN}",
            ps.tumbling("10s"),
            ps.every_rows(2),
            ps.accumulating(stamp="latest"),
        ),
        ("RETRACTING EVERY 3 SECONDS", None, ps.every("3s"), ps.retracting()),
        (
            "ACCUMULATING OF WINDOW SLIDING (SIZE 5 SECONDS, GRACE PERIOD 1 HOUR)",
            ps.sliding("5s"),
            None,
            ps.accumulating(keep_late="1h"),
        ),
        (
            "RETRACTING EACH ROW, KEEP LATE 1 MINUTE OF WINDOW SESSION (5 SECONDS)",
            ps.session("5s"),
            ps.each_row(),
            ps.retracting(keep_late="1m"),
        ),
    ],
)  # fmt: skip
def test_the_same_rows_give_the_same_results(
    said: str, window: Window | None, trigger: Trigger | None, refinement: Refinement
) -> None:
    wanted = _by_python(window, trigger, refinement)
    assert wanted
    assert _by_sql(said) == wanted


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ("TUMBLING (SIZE 2 ROWS)", ps.count_window(2)),
        ("SLIDING (SIZE 3 ROWS, ADVANCE BY 2 ROWS)", ps.count_window(3, 2)),
        ("TUMBLING (SIZE 4 OF v)", ps.delta_window("v", 4)),
        ("TUMBLING (UNTIL v > 6)", ps.punctuation_window(ps.col("v") > 6)),
    ],
)
def test_windows_of_rows_hold_the_same_rows(window: str, words: Window) -> None:
    assert _by_sql(f"CHANGES OF WINDOW {window}") == _by_python(words, None, ps.accumulating())


def _values(script: Script, *rows: tuple[int, int]) -> list[Any]:
    return [
        value for time, v in rows for _, value, _ in script.push("s", "a", {"V": v}, time)
    ]  # fmt: skip


def test_a_table_has_the_last_result_and_a_stream_says_what_is_taken_back() -> None:
    query = (
        "SELECT k, SUM(v) AS n FROM s WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY k"
        " HAVING SUM(v) > 3 EMIT RETRACTING EACH ROW;"
    )
    rows = [(1, 2), (2, 3), (3, 4), (4, -8)]
    table = Script(f"{STREAM} CREATE TABLE o AS {query}")
    assert _values(table, *rows) == [{"N": 5}, {"N": 9}, None]
    stream = Script(f"{STREAM} CREATE STREAM o AS {query}")
    told = [(value["N"], value["_WEIGHT"]) for value in _values(stream, *rows)]
    assert told == [(5, 1), (5, -1), (9, 1), (9, -1)]


def test_sessions_that_were_merged_leave_a_table() -> None:
    query = "SELECT k, COUNT(*) AS n FROM s WINDOW SESSION (5 SECONDS) GROUP BY k EMIT EACH ROW;"
    script = Script(f"{STREAM} CREATE TABLE o AS {query}")
    assert _values(script, (1_000, 1), (4_000, 1)) == [{"N": 1}, None, {"N": 2}]


def test_the_end_of_a_window_comes_after_its_grace() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, SUM(v) AS n FROM s"
        " WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS) GROUP BY k EMIT FINAL;"
    )
    assert _values(script, (1, 1), (14_999, 1), (2, 1), (15_000, 1), (3, 1)) == [{"N": 2}]


@pytest.mark.parametrize(
    ("setting", "wanted"), [("batch", [{"N": 6}]), ("record", [{"N": 1}, {"N": 3}, {"N": 6}])]
)
def test_a_batch_gives_one_update_or_one_of_each_record(
    setting: str, wanted: list[dict[str, int]]
) -> None:
    said = f"SET 'penstock.emit' = '{setting}';"
    for window in ("", "WINDOW TUMBLING (SIZE 1 MINUTE)"):
        query = f"CREATE TABLE o AS SELECT k, SUM(v) AS n FROM s {window} GROUP BY k;"
        script = Script(f"{said} {STREAM} {query}")
        _push(script.driver, "s", [("a", 1), ("a", 2), ("a", 3)])
        assert [json.loads(row["value"]) for row in script.driver.take("O")] == wanted


def _push(driver: TestDriver, topic: str, rows: list[tuple[str, int | None]]) -> None:
    driver.push(
        topic,
        [
            Record(topic, 0, place, 0, key.encode(), None if v is None else b'{"V": %d}' % v)
            for place, (key, v) in enumerate(rows)
        ],
    )


GROUPED = "SELECT k, COUNT(*) AS n FROM s {} GROUP BY k {}"


@pytest.mark.parametrize(
    ("window", "emit", "code"),
    [
        ("", "EMIT WHEN CLOSED", "SQL_EMIT"),
        ("", "EMIT EVERY 0 ROWS", "SQL_EMIT"),
        ("", "EMIT EVERY 0 SECONDS", "SQL_EMIT"),
        ("", "EMIT DISCARDING EACH ROW", "SQL_EMIT"),
        ("", "EMIT EACH ROW WHERE nothing > 1", "SQL_COLUMN_MISSING"),
        ("", "EMIT EACH ROW WHERE v", "SQL_CONDITION"),
        ("WINDOW TUMBLING (SIZE 3 ROWS)", "EMIT EVERY 2 ROWS", "SQL_EMIT"),
        ("WINDOW TUMBLING (SIZE 3 ROWS)", "EMIT FINAL", "SQL_EMIT"),
        ("WINDOW SLIDING (SIZE 3 SECONDS)", "EMIT EACH ROW", "SQL_EMIT"),
        (
            "WINDOW TUMBLING (SIZE 3 SECONDS, GRACE PERIOD 1 SECOND)",
            "EMIT WHEN CLOSED, KEEP LATE 2 SECONDS",
            "SQL_EMIT",
        ),
        ("WINDOW TUMBLING (SIZE 0 ROWS)", "", "SQL_WINDOW"),
        ("WINDOW TUMBLING (SIZE 3 ROWS, GRACE PERIOD 1 SECOND)", "", "SQL_WINDOW"),
        ("WINDOW TUMBLING (SIZE 3 SECONDS, OFFSET 3 SECONDS)", "", "SQL_WINDOW"),
        ("WINDOW TUMBLING (SIZE 3 SECONDS, MAX SIZE 3 SECONDS)", "", "SQL_WINDOW"),
        ("WINDOW TUMBLING (SIZE 3 SECONDS, RETENTION 2 SECONDS)", "", "SQL_WINDOW"),
        ("WINDOW HOPPING (SIZE 3 ROWS)", "", "SQL_WINDOW"),
        ("WINDOW SESSION (GAP k)", "", "SQL_WINDOW"),
        ("WINDOW TUMBLING (SIZE 3 OF k)", "", "SQL_EMIT"),
        ("WINDOW TUMBLING (SIZE 3 OF nothing)", "", "SQL_COLUMN_MISSING"),
    ],
)
def test_what_a_window_or_a_trigger_cannot_be_is_refused(window: str, emit: str, code: str) -> None:
    query = GROUPED.format(window, emit)
    assert refusal(f"{STREAM} CREATE TABLE o AS {query};").code == code


@pytest.mark.parametrize("emit", ["EMIT EACH ROW", "EMIT FINAL", "EMIT RETRACTING"])
def test_rows_that_are_not_grouped_have_no_trigger(emit: str) -> None:
    for made in (
        "CREATE STREAM o AS SELECT k, v FROM s",
        "SELECT v FROM s",
        "SELECT v FROM s UNION ALL SELECT v FROM s",
    ):
        assert refusal(f"{STREAM} {made} {emit};").code == "SQL_EMIT"


def test_a_setting_that_is_none_is_refused() -> None:
    said = "SET 'penstock.emit' = 'row';"
    query = "CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s GROUP BY k;"
    assert refusal(f"{said} {STREAM} {query}").code == "SQL_PROPERTY"


def test_results_of_a_window_are_kept_as_long_as_is_said() -> None:
    window = "WINDOW TUMBLING (SIZE 1 MINUTE, RETENTION 1 DAY)"
    made = outcomes(f"{STREAM} {TABLE} CREATE TABLE o AS {GROUPED.format(window, '')};")[-1]
    assert isinstance(made, Started)
    assert made.writes.retention == timedelta(days=1)


def test_every_record_of_a_table_gives_the_updates_of_its_groups() -> None:
    query = "CREATE TABLE o WITH (KEY_FORMAT='JSON') AS SELECT v, COUNT(*) AS n FROM t GROUP BY v;"
    rows: list[tuple[str, int | None]] = [("a", 1), ("a", 1), ("a", 2), ("a", None)]
    script = Script(f"SET 'penstock.emit' = 'record'; {TABLE} {query}")
    _push(script.driver, "t", rows)
    told = [(row["_key"], json.loads(row["value"])["N"]) for row in script.driver.take("O")]
    alone = Script(f"{TABLE} {query}")
    wanted = [
        (key, value["N"])
        for name, v in rows
        for key, value, _ in alone.push("t", name, None if v is None else {"V": v})
    ]
    assert sorted(told) == sorted(wanted)
    assert [n for key, n in told if key == b"1"] == [1, 1, 0]
    assert [n for key, n in told if key == b"2"] == [1, 0]


@pytest.mark.parametrize(
    ("window", "emit"),
    [
        ("", "EMIT DISCARDING EACH ROW WHERE twice(v) > 10"),
        ("WINDOW TUMBLING (UNTIL twice(v) > 10)", ""),
        ("WINDOW SESSION (GAP twice(v))", "EMIT DISCARDING AFTER ROW WHERE twice(v) > 10"),
    ],
)
def test_a_function_of_the_users_says_when_a_window_ends_or_fires(window: str, emit: str) -> None:
    twice = "CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x * 2 $$;"
    query = f"CREATE STREAM o AS SELECT k, SUM(v) AS n FROM s {window} GROUP BY k {emit};"
    script = Script(f"{STREAM} {twice} {query}")
    told = _values(script, (1, 3), (2, 4), (3, 9))
    assert told == [{"N": 7 if "UNTIL" in window else 16}]


def test_the_last_window_comes_out_by_the_clock_though_no_row_follows() -> None:
    script = Script(
        f"{STREAM} CREATE TABLE o AS SELECT k, SUM(v) AS n FROM s"
        " WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY k"
        " EMIT ANY OF (AFTER WATERMARK, AFTER 5 SECONDS);"
    )
    assert _values(script, (1, 1), (2, 2)) == []
    script.driver.advance_clock("6s")
    assert [row["value"] for row in script.driver.take("O")] == [b'{"N":3}']
    assert _values(script, (20_000, 1)) == []


def test_one_window_for_all_time_gives_its_changes() -> None:
    query = "SELECT k, SUM(v) AS n FROM s WINDOW GLOBAL GROUP BY k EMIT CHANGES;"
    script = Script(f"{STREAM} CREATE TABLE o AS {query}")
    assert script.push("s", "a", {"V": 1}, 5) == [(b"a", {"N": 1}, 5)]
    assert script.push("s", "a", {"V": 2}, 3) == [(b"a", {"N": 3}, 5)]


def test_results_are_added_to_a_stream_whose_keys_lie_in_the_same_windows() -> None:
    made = (
        STREAM.replace("STREAM s", "STREAM o").replace("='s'", "='o'").replace("v INT", "n BIGINT")
    )
    of_windows = made.replace("'JSON'", "'JSON', WINDOW_TYPE='TUMBLING', WINDOW_SIZE='10 SECONDS'")
    emit = "EMIT DISCARDING EVERY 2 ROWS"
    plain = f"INSERT INTO o {GROUPED.format('', emit)};"
    windowed = f"INSERT INTO o {GROUPED.format('WINDOW TUMBLING (SIZE 10 SECONDS)', emit)};"
    for text in (made + plain, made + windowed, of_windows + windowed):
        assert _values(Script(f"{STREAM} {text}"), (1, 1), (2, 1)) == [{"N": 2}]
    assert refusal(f"{STREAM} {of_windows} {plain}").code == "SQL_INSERT"


@pytest.mark.parametrize(
    "window",
    [
        "",
        "WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 5 SECONDS)",
        "WINDOW SESSION (3 SECONDS)",
    ],
)
def test_by_record_a_batch_gives_what_its_records_give_one_by_one(window: str) -> None:
    query = f"SELECT k, SUM(v) AS n FROM s {window} GROUP BY k HAVING SUM(v) > 5"
    said = f"SET 'penstock.emit' = 'record'; {STREAM} CREATE TABLE o AS {query};"
    chance = Random(4)
    records = [
        Record("s", 0, 0, chance.randint(0, 30) * 700, b"a", b'{"V": %d}' % chance.randint(-4, 9))
        for _ in range(20)
    ]
    told: list[list[tuple[Any, ...]]] = []
    for size in (1, len(records)):
        script = Script(said)
        for place in range(0, len(records), size):
            script.driver.push("s", records[place : place + size])
        rows = script.driver.take("O")
        told.append([(row["_key"], row["value"], row["_time"]) for row in rows])
    assert told[0] == told[1] != []
