"""Small batches over a large state take what their keys have, and give what the whole gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.kernel import divided
from penstock.kernel.divided import Divided
from penstock.kernel.parcel import Worked
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Frame, State, Time
from penstock.kernel.program import Program
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.spark import state_files, state_runs
from penstock.spark.dispatch import dispatch_of
from penstock.spark.job_files import JobFiles
from penstock.spark.level import Bucket, Level, Remembered
from penstock.spark.state_runs import run_cache
from penstock.spark.stored_program import store_program

KEYS = 2_000


def running(stream: Stream) -> Stream:
    grouped = stream.group_by("user", "n").trigger(ps.each_batch())
    return grouped.agg(total=ps.sum("v"), rows=ps.count(), most=ps.max("v"))


def retracting(stream: Stream) -> Stream:
    grouped = stream.group_by("user", "n").refine(ps.retracting())
    return grouped.agg(total=ps.sum("v"), last=ps.last("v"), all=ps.collect_list("v"))


def distinct(stream: Stream) -> Stream:
    grouped = stream.group_by("user", "n").trigger(ps.each_batch())
    return grouped.agg(people=ps.count_distinct("v"), nearly=ps.approx_count_distinct("v"))


def tumbling(stream: Stream) -> Stream:
    return stream.group_by("user", "n").window(ps.tumbling("30s")).agg(total=ps.sum("v"))


def hopping(stream: Stream) -> Stream:
    grouped = stream.group_by("user", "n").window(ps.hopping("30s", "20s"))
    closed = grouped.trigger(ps.when_closed(early=ps.each_batch(), late=ps.each_row()))
    return closed.refine(ps.retracting(keep_late="15s")).agg(total=ps.sum("v"), n2=ps.count())


def sessions(stream: Stream) -> Stream:
    grouped = stream.group_by("user", "n").window(ps.session("25s"))
    return grouped.refine(ps.accumulating(keep_late="9s")).agg(total=ps.sum("v"))


def physical(how: Any) -> Physical:  # noqa: ANN401
    app = ps.App("runs")
    stream = app.stream("in", schema={"user": "string", "n": "float64", "v": "int64"}, idle=None)
    how(stream).to("out")
    return plan(app.plan(), Settings(buckets=1))


class Steps:
    """One bucket, stepped as Spark's worker does; and the same as a whole, in memory."""

    def __init__(self, folder: Path, how: Any, *, moving: bool = False) -> None:  # noqa: ANN401
        self.physical = physical(how)
        self.program = Program(self.physical)
        self.operator = self.physical.operators[0].id
        stored = str(store_program(JobFiles(folder), self.physical))
        level = Level(stored, 0, str(folder / "home"), "staging", str(folder / "memory"))
        self.bucket = Bucket(
            level, dispatch_of(stored, level.home, level.staging), self.operator, 0
        )
        self.note = Remembered(None)
        self.whole = State()
        self.clock = 0
        self.watermark = START_OF_TIME
        self.moving = moving
        self.memory = folder / "memory"

    def take(self, numbers: Any, *, end: bool = False) -> tuple[Worked, int]:  # noqa: ANN401
        """Take rows of some keys; give what the bucket did, and the rows it says it holds."""
        before = Time(self.watermark, self.clock)
        if self.moving:
            self.watermark = max(START_OF_TIME, self.clock - 2000)
        self.clock += 1000
        times = before, Time(END_OF_TIME if end else self.watermark, self.clock)
        deltas = self.deltas(np.asarray(numbers, np.int64))
        worked, rows, _ = self.bucket.worked(self.note, deltas, times)
        expected = self.program.work(self.operator, self.whole, deltas, times[1])
        assert expected.state is not None
        self.whole = expected.state
        assert as_set(worked) == as_set(expected)
        assert worked.counts == expected.counts
        assert rows == self.whole.rows
        return worked, rows

    def deltas(self, numbers: Any) -> list[Frame]:  # noqa: ANN401
        if not len(numbers):
            return []
        rows = pl.DataFrame(
            {
                "user": pl.Series([None if n % 50 == 7 else f"user-{n // 2}" for n in numbers]),
                "n": pl.Series([float("nan") if n % 4 == 1 else n % 2 * 0.5 for n in numbers]),
                "v": numbers * 7 % 1000 + self.clock,
                "_timestamp": pl.Series(np.full(len(numbers), self.clock)).cast(
                    pl.Datetime("ms", "UTC")
                ),
                "_taken": np.full(len(numbers), self.clock),
            }
        )
        taken = self.program.take(self.physical.scans[0].id, rows, self.whole.time.watermark, None)
        return [parcel.frame for parcel in taken.worked.parcels]

    @property
    def files(self) -> list[str]:
        return sorted(path.suffix for path in self.memory.rglob("*") if path.is_file())


def as_set(worked: Worked) -> list[str]:
    frames = [parcel.frame.rows(named=True) for parcel in worked.parcels]
    return sorted(repr(sorted(row.items())) for rows in frames for row in rows)


@pytest.fixture(autouse=True)
def _own_process() -> Iterator[None]:
    run_cache.cache_clear()
    yield
    run_cache.cache_clear()


@pytest.fixture(params=[running, retracting, distinct], ids=lambda how: how.__name__)
def steps(tmp_path: Path, request: pytest.FixtureRequest) -> Steps:
    return Steps(tmp_path, request.param)


def test_few_keys_of_many_are_taken_without_the_others(steps: Steps) -> None:
    steps.take(range(KEYS))
    for number in range(6):
        steps.take([*range(number * 20, number * 20 + 30), KEYS + number])
    assert steps.files.count(".part") == 6
    assert steps.files.count(".state") == 1
    steps.take([])
    steps.take(range(KEYS // 2))
    steps.take([3, 3, KEYS + 4], end=True)
    assert steps.whole.rows == 0


def test_a_worker_that_knows_nothing_gives_the_same(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps.take(range(KEYS))
    for number in range(4):
        if number % 2:
            run_cache.cache_clear()
            monkeypatch.setattr(state_files, "_CACHE_BYTES", 0)
        before, whole, clock = steps.note.note, steps.whole, steps.clock
        steps.take(range(number, number + 10))
        note = steps.note.note
        # Spark runs the batch again, with the note of the batch before.
        steps.note.note, steps.whole, steps.clock = before, whole, clock
        steps.take(range(number, number + 10))
        assert steps.note.note == note


def test_parts_become_one_and_then_the_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_files, "_MOST_PARTS", 4)
    steps = Steps(tmp_path, running)
    steps.take(range(KEYS))
    seen = []
    for number in range(14):
        steps.take(range(number * 60, number * 60 + 90))
        seen.append(steps.files.count(".part"))
    assert max(seen) <= 6
    assert steps.note.note is not None
    assert steps.take(range(50))[1] == steps.whole.rows
    assert steps.files.count(".state") <= 2


def test_keys_whose_hashes_are_alike_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(tmp_path, running)
    steps.take(range(KEYS))
    for module in (divided, state_runs):
        monkeypatch.setattr(module, "hash_of", lambda rows, _: np.arange(rows.height) % 9 + 1)
    steps.take(range(10, 30))
    steps.take(range(20, 50))
    assert ".part" not in steps.files


def test_parts_of_a_state_that_are_alike_count_from_the_last_on() -> None:
    tables = {
        "keys": pl.DataFrame({"k": ["a", "b", "a"]}),
        "panes": pl.DataFrame({"_pane": [0, 1, 2], "_key": [0, 1, 2]}),
        "fold": pl.DataFrame({"_pane": [2, 0, 1], "v": [5, 1, 2]}),
    }
    last = Divided(tables).last()
    assert last["keys"]["k"].to_list() == ["b", "a"]
    assert last["fold"].to_dict(as_series=False) == {"_pane": [0, 1], "v": [2, 5]}


def test_a_state_of_another_form_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    steps = Steps(tmp_path, running)
    steps.take(range(KEYS))
    steps.take(range(10))
    assert steps.note.note is not None
    assert steps.bucket.files.open(steps.note.note).rows == steps.whole.rows
    other = Steps(tmp_path / "other", distinct)
    assert other.bucket.files.open(steps.note.note).rows is None


@pytest.mark.parametrize("how", [tumbling, hopping, sessions], ids=lambda how: how.__name__)
def test_windows_that_end_are_looked_at_as_a_whole(tmp_path: Path, how: Any) -> None:  # noqa: ANN401
    steps = Steps(tmp_path, how, moving=True)
    given, parts = 0, 0
    steps.take(range(KEYS))
    for number in range(40):
        if number == 20:
            steps.take(range(KEYS - number))
        worked, _ = steps.take([*range(number * 7, number * 7 + 9), KEYS + number % 5])
        given += sum(parcel.frame.height for parcel in worked.parcels)
        parts = max(parts, steps.files.count(".part"))
    assert parts > 5
    assert given
    steps.take([1], end=True)
    assert steps.whole.rows == 0
