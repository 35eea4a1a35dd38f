from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.kernel.arrival import Skew
from penstock.kernel.port import Counts
from penstock.kernel.watermark import Watermarks
from penstock.spark.batch import Batch, first_marks
from penstock.spark.file_clock import FileClock, clock_at
from penstock.spark.job_files import JobFiles, current_files, next_files, switch, write_json
from penstock.spark.leave import left_by
from penstock.spark.packet import Account, Packet
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Left, Start, left_at, read_left, write_left, write_start

AT = ProgramOffset({}, {}, 50, first_marks(50))


def packets(taken: int) -> list[Packet]:
    counts = {"scan-t": Counts(taken, taken)}
    told = Account(counts, {"scan-t": Skew(1, 2, 3, 4)}, at=AT.to_json())
    worked = Account({"agg-1": Counts(taken, taken)}, {}, 70, (("agg-1", 0, 5, 99),))
    return [Packet((0, 0), account=told), Packet((1, 0, 0), account=worked)]


def left(number: int, before: Left | None = None, taken: int = 10) -> Left:
    time = (Batch(50, 40, first_marks(40)), Watermarks({}, 40))
    return left_by(number, packets(taken), time, before, 12)


def test_a_batch_leaves_its_place_its_deadline_and_its_counts() -> None:
    found = left(0)
    assert (found.batch, found.at, found.wake_at) == (0, AT, 70)
    assert found.told["counts"]["scan-t"][0] == 10
    assert found.told["state"] == {"agg-1": [5, 99]}
    assert found.told["millis"] == 12


def test_counts_go_on_and_a_batch_that_is_run_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    write_left(path, left(0))
    first = read_left(path)
    second = left(1, first)
    assert second.told["base"]["scan-t"][0] == 10
    write_left(path, second)
    again = left(1, read_left(path))
    assert again.told["base"] == second.told["base"]
    assert len(again.told["history"]) == len(second.told["history"]) == 2
    assert left(2, again).told["base"]["scan-t"][0] == 20


def test_only_what_the_last_batch_left_is_believed(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    write_start(files.start, Start(replace(AT, marks=None)))
    assert left_at(files, replace(AT, marks=None)) is None
    write_left(files.progress, left(0))
    assert left_at(files, AT) == read_left(files.progress)
    with pytest.raises(StateError, match="PROGRESS_MISMATCH"):
        left_at(files, replace(AT, clock=51))


def test_a_generation_becomes_current_at_one_instant(tmp_path: Path) -> None:
    old = current_files(tmp_path)
    write_json(old.identity, {"job": "old"})
    fresh = next_files(tmp_path)
    write_json(fresh.identity, {"job": "new"})
    assert current_files(tmp_path) == old
    switch(tmp_path, fresh)
    assert current_files(tmp_path) == fresh
    assert not old.folder.exists()
    assert (fresh.begun, fresh.committed) == (-1, -1)


def test_a_clock_in_a_file_stands_where_it_was_put(tmp_path: Path) -> None:
    clock = clock_at(str(tmp_path / "clock"))
    assert isinstance(clock, FileClock)
    assert clock.now() == 0
    clock.set(42)
    assert clock.now() == 42
    assert clock_at("").now() > 10**12
