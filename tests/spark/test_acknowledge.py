"""What a job needs no more, and what all who read a topic let it forget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StateError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.model.plan import Plan, Sink
from penstock.plan.needed import needed_for
from penstock.plan.planner import plan
from penstock.spark import acknowledge
from penstock.spark.acknowledge import Acknowledging
from penstock.spark.batch_log import BatchLog, Noted, batch_topic
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Left, Start
from penstock.spark.upstream import Again, needed_index, rebuild_from_log
from tests.spark.programs import append, by_page, chained, rows, visits, windowed

PLACES = (TopicPartition("visits", 0), TopicPartition("visits", 1))
BATCHES = 8


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedLog]:
    monkeypatch.setattr(acknowledge, "_EVERY", 0.0)
    with open_log(tmp_path) as opened:
        append(opened, rows(20 * BATCHES))
        yield opened


def marks(seconds: int) -> dict[str, Any]:
    """Say that the newest row is of a time, five seconds before the watermark."""
    found = [["scan-visits", at.partition, 1000 * seconds, 0, 0] for at in PLACES]
    return {"reached": 1000 * seconds, "started_at": 0, "marks": found}


def left(number: int) -> Left:
    """Give what batch `number` left: it took 10 rows of each partition, and 10 seconds."""
    before = marks(10 * number) if number else {"reached": None, "started_at": 0, "marks": []}
    at = ProgramOffset(dict.fromkeys(PLACES, 10 * number + 10), {"visits": "v"}, 0, before)
    return Left(number, at, marks(10 * number + 10))


def noted(count: int) -> list[Noted]:
    first = Noted(-1, Start(ProgramOffset(dict.fromkeys(PLACES, 0), {"visits": "v"})))
    return [first, *(Noted.of(number, left(number)) for number in range(count))]


def of(log: EmbeddedLog, physical: Physical, *, trim: bool) -> Acknowledging:
    batches = BatchLog(log, batch_topic(physical.name, "job"))
    batches.ensure()
    batches.append(noted(0)[0])
    return Acknowledging(lambda: log, physical, Again(batches.topic), trim=trim)


def run(job: Acknowledging, first: int = 0, last: int = BATCHES) -> None:
    for number in range(first, last):
        job.note(number, left(number))
        job.done(left(number), left(number - 1) if number else None)


def starts(log: EmbeddedLog) -> list[int]:
    return [bound.start for _, bound in sorted(log.snapshot(["visits"]).items())]


def test_batches_whose_rows_no_open_window_has_are_needed_no_more() -> None:
    physical = plan(windowed())
    # Before batch 7 the watermark was at 70 s: what is older than 60 s is in no window.
    assert needed_index(noted(BATCHES), physical.scans, None) == 0
    index = needed_index(noted(BATCHES), physical.scans, needed_for(physical))
    # Batch 4 brought rows up to 55 s; batch 5 up to 65 s.
    assert noted(BATCHES)[index].number == 4
    assert needed_index(noted(1), physical.scans, needed_for(physical)) == 0


def test_a_program_that_needs_more_than_the_one_before_is_refused(
    log: EmbeddedLog, tmp_path: Path
) -> None:
    run(of(log, plan(windowed()), trim=False))
    files = JobFiles(tmp_path / "job" / "0")
    rebuilt = rebuild_from_log(files, log, plan(windowed()), "exactly-once", lambda: left(0).at)
    assert rebuilt.startswith("upstream-")
    longer = plan(Plan("windowed", (Sink(by_page(visits(), 20), "counts"),)))
    with pytest.raises(StateError, match="BATCHES_FORGOTTEN"):
        rebuild_from_log(files, log, longer, "exactly-once", lambda: left(0).at)


def test_a_batch_is_what_was_noted_of_it() -> None:
    batch = Noted.of(3, left(3))
    found = Noted.from_bytes(batch.to_bytes())
    assert (found.number, found.start.offset) == (3, left(3).at)
    assert found.start.left is not None
    assert found.start.left.marks == left(3).marks


def test_what_is_needed_no_more_is_told_and_trimmed(log: EmbeddedLog) -> None:
    job = of(log, plan(windowed()), trim=True)
    run(job)
    assert log.committed("windowed.needed") == dict.fromkeys(PLACES, 50)
    assert starts(log) == [50, 50]
    # The batches before are forgotten, too; a batch that is run again is not noted twice.
    topic = batch_topic("windowed", "job")
    assert tuple(log.bounds(topic, 0)) == (5, 9)
    job.note(7, left(7))
    assert tuple(log.bounds(topic, 0)) == (5, 9)


def test_nothing_is_trimmed_that_another_job_or_reader_needs(log: EmbeddedLog) -> None:
    other = of(log, plan(chained()), trim=False)
    run(other)
    # It remembers without an end, and recovers from the log: it needs the first row.
    assert log.committed("chained.needed") == dict.fromkeys(PLACES, 0)
    job = of(log, plan(windowed()), trim=True)
    run(job, 0, 6)
    assert starts(log) == [0, 0]
    log.delete_group("chained.needed")
    # A group that only says how far somebody has come: the step before may be done again.
    log.commit("slow", dict.fromkeys(PLACES, 20))
    run(job, 6, 7)
    assert starts(log) == [0, 0]
    log.commit("slow", dict.fromkeys(PLACES, 30))
    run(job, 7, 8)
    assert starts(log) == [20, 20]


def test_a_job_with_a_checkpoint_needs_what_it_has_read_since(log: EmbeddedLog) -> None:
    job = Acknowledging(lambda: log, plan(chained()), None, trim=True)
    job.done(left(3), left(2))
    assert starts(log) == [30, 30]
    # One that is run again finds its own progress, which says nothing of what is finished.
    job.done(left(4), left(4))
    assert starts(log) == [30, 30]
    untouched = Acknowledging(lambda: log, plan(chained()), None, trim=False)
    untouched.note(9, left(9))
    untouched.done(left(6), left(5))
    assert starts(log) == [30, 30]
