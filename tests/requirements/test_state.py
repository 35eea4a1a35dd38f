"""Where state lives, and what is left of it after a crash (D14, D23 to D29)."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import RunError, StateError, UsageError
from penstock.inline.changelog_store import state_topic
from penstock.inline.run import InlineOptions, InlineRun, Report
from tests.requirements.events import COLUMNS, event
from tests.requirements.homes import publish, records, stored
from tests.requirements.state_child import options, totals

PROJECT = Path(__file__).resolve().parents[2]
BEFORE = [event(1, 1), event(2, 2), event(3, 10, "b")]
AFTER = [event(4, 4), event(5, 20, "b")]
KEPT = [("a", 1), ("a", 3), ("b", 10), ("a", 7), ("b", 30)]
"""What comes out where nothing was forgotten and nothing is done again."""
ANEW = [("a", 1), ("a", 3), ("b", 10), *KEPT]
"""What comes out where all was forgotten: the second run begins at the first event."""


def killed(home: Path, state: str, *, exactly_once: bool = False, store: str = "") -> None:
    """Let a process take the events so far, store what it remembers, and kill it."""
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.requirements.state_child"),
            *(str(home), state, str(exactly_once), store),
        ],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        for line in child.stdout:
            if int(line) == len(records(home, "events")):
                break
        os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL


def lose_the_machine(home: Path) -> None:
    """Remove what the program kept on the disk of the machine that it ran on."""
    shutil.rmtree(home / "job", ignore_errors=True)


def run(home: Path, state: str, *, exactly_once: bool = False, store: str | None = None) -> Report:
    how = options(state, exactly_once=exactly_once, until="caught up")  # type: ignore[arg-type]
    return InlineRun(totals(store), home=home, checkpoint=home / "job", options=how).run()


def results(home: Path) -> list[tuple[str, int]]:
    return [(row["k"], row["total"]) for row in stored(home, "out")]


# D24, D25, D29, H12, H23
@pytest.mark.slow
@pytest.mark.kill
@pytest.mark.parametrize(
    ("state", "machine_lost", "origin", "gives"),
    [
        pytest.param("memory", False, None, ANEW, id="memory: lost with the process"),
        pytest.param("local", False, "local", KEPT, id="local: kept over a crash"),
        pytest.param("local", True, None, ANEW, id="local: lost with the machine"),
        pytest.param("changelog", False, "local", KEPT, id="changelog: kept over a crash"),
        pytest.param("changelog", True, "changelog", KEPT, id="changelog: restored by replay"),
        pytest.param("external", False, "external", KEPT, id="external: kept over a crash"),
        pytest.param("external", True, "external", KEPT, id="external: kept without the machine"),
    ],
)
def test_what_is_left_of_the_state_after_a_kill(
    tmp_path: Path,
    state: str,
    machine_lost: bool,
    origin: str | None,
    gives: list[tuple[str, int]],
) -> None:
    publish(tmp_path, BEFORE)
    killed(tmp_path, state)
    if machine_lost:
        lose_the_machine(tmp_path)
    publish(tmp_path, AFTER)
    report = run(tmp_path, state)
    assert report.restored_from == origin
    assert (report.began_at > 0) is (origin is not None)
    assert results(tmp_path) == gives


# D29
@pytest.mark.slow
@pytest.mark.kill
@pytest.mark.parametrize(
    ("state", "machine_lost"),
    [
        ("local", False),
        ("changelog", False),
        ("changelog", True),
        ("external", False),
        ("external", True),
    ],
)
def test_exactly_once_holds_with_every_store_that_survives(
    tmp_path: Path, state: str, machine_lost: bool
) -> None:
    publish(tmp_path, BEFORE)
    killed(tmp_path, state, exactly_once=True)
    if machine_lost:
        lose_the_machine(tmp_path)
    publish(tmp_path, AFTER)
    run(tmp_path, state, exactly_once=True)
    assert results(tmp_path) == KEPT


# D29
def test_exactly_once_is_not_promised_where_it_cannot_be_kept(tmp_path: Path) -> None:
    publish(tmp_path, BEFORE)
    with pytest.raises(UsageError, match="STATE_MEMORY"):
        run(tmp_path, "memory", exactly_once=True)
    run(tmp_path, "local", exactly_once=True)
    lose_the_machine(tmp_path)
    with pytest.raises(StateError, match="SNAPSHOT_LOST"):
        run(tmp_path, "local", exactly_once=True)
    assert results(tmp_path) == KEPT[:3]


# D24
def test_the_state_is_a_stream_of_its_changes_that_anybody_can_read(tmp_path: Path) -> None:
    publish(tmp_path, BEFORE)
    run(tmp_path, "changelog")
    topic = state_topic("totals")
    keys = {record["_key"].decode() for record in records(tmp_path, topic)}
    assert "snapshot" in keys
    assert {key.split("/")[0] for key in keys - {"snapshot"}} == {"agg-1"}


# D25
def test_the_state_can_be_kept_in_a_database_that_is_chosen(tmp_path: Path) -> None:
    publish(tmp_path, BEFORE)
    place = tmp_path / "elsewhere" / "states.sqlite"
    how = InlineOptions(state="external", database=str(place), until="caught up")
    InlineRun(totals(), home=tmp_path, checkpoint=tmp_path / "job", options=how).run()
    with closing(sqlite3.connect(place)) as database:
        found = database.execute("SELECT DISTINCT program, operator FROM penstock_states")
        assert found.fetchall() == [("totals", "agg-1")]
    assert not (tmp_path / "job").exists()


# D14
def test_the_state_of_an_operator_is_a_synopsis_or_a_buffer_and_can_be_looked_at() -> None:
    app = ps.App("look")
    events = app.stream("events", schema=COLUMNS, event_time="at")
    events.group_by("k").window(ps.tumbling("1 minute")).agg(total=ps.sum("v"), n=ps.count()).to(
        "synopsis"
    )
    events.group_by("k").window(ps.sliding("1 minute")).agg(total=ps.sum("v")).to("buffer")
    driver = app.test()
    driver.push("events", [event(second, second) for second in range(1, 11)])
    synopsis, buffer = (driver.state(keyed.id) for keyed in driver.physical.operators)
    assert sum(table.height for table in synopsis.values()) < 10
    assert 55 in [value for table in synopsis.values() for row in table.rows() for value in row]
    assert any(table.height == 10 for table in buffer.values())


def every_kind() -> ps.App:
    """Windows, joins, patterns and others that remember, in one program."""
    app = ps.App("every")
    events = app.stream("events", schema=COLUMNS, event_time="at", max_ahead=None)
    events.group_by("k").window(ps.tumbling("10s")).agg(n=ps.count()).to("windowed")
    events.join(events, on="k", within="3s").select("k", "v", "v_right").to("joined")
    rising = ps.pattern(ps.step("a").followed_by(ps.step("b", ps.col("v") > ps.last("a", "v"))))
    emit = {"one": ps.last("a", "v"), "other": ps.last("b", "v")}
    events.group_by("k").match(rising.within("8s"), emit).to("matched")
    events.to_table("k").to_stream().to("latest")
    events.dedup("v").to("first")
    events.top_n(2, by="v", group="k").to("best")
    return app


# D24, D26
@pytest.mark.slow
@pytest.mark.parametrize("state", ["changelog", "external"])
def test_windows_joins_and_patterns_keep_their_state_in_one_way(tmp_path: Path, state: str) -> None:
    given = [event(2 * number, (7 * number) % 10, "ab"[number % 2]) for number in range(40)]
    halves, whole = tmp_path / "halves", tmp_path / "whole"
    publish(whole, given)
    run_here(whole, "local", until="end")
    for number, until in enumerate(("caught up", "end")):
        publish(halves, given[20 * number : 20 * number + 20])
        run_here(halves, state, until=until)
        shutil.rmtree(halves / "jobs", ignore_errors=True)
    for output in every_kind().physical().outputs:
        found, wanted = stored(halves, output.sink.topic), stored(whole, output.sink.topic)
        assert wanted, output.id
        assert found == wanted, output.id


def run_here(home: Path, state: str, **more: str) -> None:
    how = InlineOptions(**{"state": state, **more})  # type: ignore[arg-type]
    every_kind().run_here(home=home, options=how)


# D25
def test_the_operators_of_a_program_are_told_apart_in_a_database(tmp_path: Path) -> None:
    publish(tmp_path, [event(second, second) for second in range(1, 11)])
    run_here(tmp_path, "external", until="caught up")
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
        found = database.execute("SELECT DISTINCT operator FROM penstock_states")
        names = {name.partition("-")[0] for (name,) in found}
    assert names == {"agg", "join", "match", "table", "dedup", "top"}


# D23
def test_every_bucket_of_an_operator_has_a_state_of_its_own(tmp_path: Path) -> None:
    publish(tmp_path, [event(number, number, f"k{number}") for number in range(100)])
    run_here(tmp_path, "external", until="caught up")
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
        found = database.execute(
            "SELECT bucket FROM penstock_states WHERE operator = 'table-1' ORDER BY 1"
        )
        assert [bucket for (bucket,) in found] == list(range(ps.Settings().buckets))


# D30, E21
@pytest.mark.slow
@pytest.mark.kill
@pytest.mark.parametrize("exactly_once", [False, True])
def test_results_in_a_store_come_once_whenever_the_process_is_killed(
    tmp_path: Path, exactly_once: bool
) -> None:
    store = str(tmp_path / "results.sqlite")
    for number in range(3):
        publish(tmp_path, [event(10 * number + second, second) for second in range(1, 6)])
        killed(tmp_path, "local", exactly_once=exactly_once, store=store)
    publish(tmp_path, [event(100, 100, "b")])
    run(tmp_path, "local", exactly_once=exactly_once, store=store)
    assert in_store(store, "SELECT k, total FROM sums ORDER BY k") == [("a", 45), ("b", 100)]
    assert in_store(store, "SELECT k, v FROM seen") == [
        *[("a", second) for _ in range(3) for second in range(1, 6)],
        ("b", 100),
    ]


# D30
def test_rows_that_a_crash_kept_from_a_store_are_brought_by_the_next_run(tmp_path: Path) -> None:
    store = str(tmp_path / "results.sqlite")
    publish(tmp_path, BEFORE)
    how = InlineOptions(until="caught up")
    dying = InlineRun(totals(store), home=tmp_path, checkpoint=tmp_path / "job", options=how)
    dying._deliveries.deliver = _dies  # type: ignore[method-assign, assignment]
    with pytest.raises(RunError, match="INLINE_FAILED"):
        dying.run()
    assert in_store(store, "SELECT * FROM sums") == []
    run(tmp_path, "local", store=store)
    assert in_store(store, "SELECT k, total FROM sums ORDER BY k") == [("a", 3), ("b", 10)]
    assert in_store(store, "SELECT count(*) FROM seen") == [(3,)]


def _dies(*_: object) -> None:
    raise OSError("the power is gone")


def in_store(store: str, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store)) as database:
        return database.execute(statement).fetchall()
