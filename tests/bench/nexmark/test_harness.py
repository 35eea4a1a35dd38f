from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from bench.nexmark.answers import answer
from bench.nexmark.harness import Driven, EngineCommand, EngineDied, NotRun, Ran
from bench.nexmark.record import Record
from bench.nexmark.tree import Times, memory_of, taken, times_of
from bench.nexmark.turns import Plan, Turns
from tests.bench.nexmark.conftest import Write

ENGINE = Path(__file__).with_name("fake_engine.py")
PATIENCE = 30.0


def command(name: str, answers: Path) -> EngineCommand:
    return EngineCommand(name, (sys.executable, str(ENGINE), name, str(answers)))


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Driven]:
    made = Driven.start(command("ours", tmp_path), tmp_path / "log")
    yield made
    made.close()


def test_an_engine_says_who_it_is_and_what_a_query_took(driven: Driven) -> None:
    assert driven.hello["durability"] == "on disk"
    outcome = driven.ask({"query": "q0", "results": None}, PATIENCE)
    assert isinstance(outcome, Ran)
    assert (outcome.seconds, outcome.first, outcome.rows) == (0.5, 0.25, 0)
    assert outcome.memory > 1


def test_a_process_that_has_ended_by_then_is_counted(driven: Driven) -> None:
    outcome = driven.ask({"query": "q0", "results": None}, PATIENCE)
    assert isinstance(outcome, Ran)
    assert outcome.cpu >= 0.09


def test_a_refusal_is_told(driven: Driven) -> None:
    outcome = driven.ask({"query": "q1", "results": None}, PATIENCE)
    assert outcome == NotRun("refused", "it has no euros")


def test_the_last_words_of_an_engine_that_dies_are_told(driven: Driven) -> None:
    with pytest.raises(EngineDied, match="ended with 1: no memory left"):
        driven.ask({"query": "q4", "results": None}, PATIENCE)


def test_an_engine_that_does_not_answer_is_given_up_and_ended(driven: Driven) -> None:
    with pytest.raises(EngineDied, match="no answer within 0 s"):
        driven.ask({"query": "q9", "results": None}, 0.1)
    pid = driven._process.pid
    driven._process.kill()
    driven.close()
    assert not psutil.pid_exists(pid)


def test_what_nobody_waited_for_is_added_as_it_was_seen_last() -> None:
    before = {1: Times(0, 10.0, 0.0)}
    after = {1: Times(0, 11.0, 2.0)}
    seen = {1: Times(0, 10.5, 0.0), 2: Times(1, 2.0, 0.0), 3: Times(1, 3.0, 0.5)}
    # One of its own, two of a child that it waited for, and 3.5 of one that it did not.
    assert taken(before, after, seen) == pytest.approx(1.0 + 2.0 + 3.5)


def test_a_process_left_behind_in_the_session_belongs_to_the_tree() -> None:
    leave = (
        "import subprocess, sys\n"
        "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " stdout=subprocess.DEVNULL)\n"
        "print(left.pid)"
    )
    root = subprocess.Popen(
        [sys.executable, "-c", leave], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    left = int(root.communicate()[0])
    try:
        assert list(times_of(root.pid)) == [left]
        assert memory_of([left]) > 0
    finally:
        psutil.Process(left).kill()


@pytest.fixture
def record(events: Write, tmp_path: Path) -> Record:
    folder = events(bid=[{"auction": 123, "date_time": 1}, {"auction": 1, "date_time": 2}])
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    for place in (right, wrong):
        place.mkdir()
        for query in ("q0", "q2"):
            pq.write_table(answer(query, folder), place / f"{query}.parquet")
    pq.write_table(answer("q2", folder).slice(1), wrong / "q2.parquet")
    commands = [command("ours", right), command("spark", wrong)]
    plan = Plan(
        events=2,
        folder=folder,
        queries=("q0", "q1", "q2", "q4"),
        runs=2,
        warm=0,
        batch=1000,
        scratch=tmp_path / "run",
    )
    return Turns(commands, plan).record()


def test_engines_take_turns_and_only_right_answers_have_a_speed(record: Record) -> None:
    engines = [run.engine for run in record.runs if run.query == "q0"]
    assert engines == ["ours", "spark", "spark", "ours"]
    assert [run.engine for run in record.runs if run.query == "q2"] == ["ours", "ours"]
    told = {(item.query, item.engine): item for item in record.remarks}
    assert told["q1", "ours"].kind == "refused"
    assert told["q2", "spark"].kind == "wrong"
    assert "1 rows are missing" in told["q2", "spark"].reason
    # An engine that died is started anew for what comes next.
    assert told["q4", "ours"].reason == "ended with 1: no memory left"
    assert len(told) == 5


def test_an_engine_warms_up_and_short_runs_have_more_turns(
    events: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = events(bid=[{"auction": 123, "date_time": 1}])
    pq.write_table(answer("q0", folder), tmp_path / "q0.parquet")
    plan = Plan(
        events=1,
        folder=folder,
        queries=("q0",),
        runs=1,
        warm=2,
        batch=1000,
        scratch=tmp_path / "run",
    )
    record = Turns([command("ours", tmp_path)], plan).record()
    # Its runs say that they last half a second: four of them make two, then five count.
    assert [run.rows for run in record.runs] == [4, 5, 6, 7, 8]
    assert capfd.readouterr().err.count("events/CPU-s") == len(record.runs)
