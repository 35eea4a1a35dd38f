"""The report of a recovery: what a crash has cost, by the job's guarantee, and how long it took."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.clock import ManualClock
from penstock.jobs.job import Job, State
from penstock.jobs.recovery import RecoveryWatch, recovery_lines, recovery_of
from penstock.jobs.store import JobStore, job_store
from penstock.model.job_settings import Guarantee, JobSettings
from penstock.model.progress import Progress


def run_of(checkpoint: Path, name: str = "shop") -> Job:
    return Job(
        id="",
        name=name,
        application="shop",
        state="running",
        user="ann",
        host="here",
        pid=1,
        started_at=0,
        checkpoint=str(checkpoint),
    )


def ended(store: JobStore, job: Job, state: State, *, at: int | None = None) -> Job:
    registered, lock = store.register(job)
    over = replace(registered, state=state, ended_at=at)
    store.write(over)
    lock.close()
    return over


def progress(batch: int, clock: int = 0) -> Progress:
    return Progress(batch=batch, clock=clock, watermark=None)


def half_done_batch(checkpoint: Path, records: int) -> None:
    for number, at in ((6, 100), (7, 100 + records)):
        offset = {
            "topics": {"in": {"id": "t", "offsets": {"0": at}}},
            "clock": 0,
            "marks": None,
            "end": False,
        }
        for folder in ("offsets", "commits") if number == 6 else ("offsets",):
            file = checkpoint / "0" / "spark" / folder / str(number)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"v2\n{{}}\ninputs:{json.dumps(offset)}")


@pytest.mark.parametrize(
    ("guarantee", "replayed", "lost", "duplicated"),
    [("exactly-once", 25, 0, 0), ("at-least-once", 25, 0, 25), ("at-most-once", 0, 25, 0)],
)
def test_a_run_after_a_crash_reports_what_it_has_cost(
    tmp_path: Path, guarantee: Guarantee, replayed: int, lost: int, duplicated: int
) -> None:
    store, clock = job_store(tmp_path), ManualClock(20_000)
    before = ended(store, run_of(tmp_path / "job"), "failed", at=15_000)
    half_done_batch(tmp_path / "job", 25)
    run, lock = store.register(replace(run_of(tmp_path / "job"), started_at=clock.now()))
    watch = RecoveryWatch(store, run, JobSettings(guarantee=guarantee), clock)
    told: list[int] = []
    tell = watch.telling(lambda found: told.append(found.batch))
    clock.advance(2_000)
    watch.started(object())
    found = recovery_of(store, str(tmp_path / "job"))
    assert found is not None
    assert found.seconds is None
    assert list(recovery_lines(found))[-1].strip() == "no new result yet"
    clock.advance(500)
    tell(progress(7))
    clock.advance(9_000)
    tell(progress(8))
    assert told == [7, 8]
    report = recovery_of(store, str(tmp_path / "job"))
    assert report is not None
    assert (report.kind, report.after, report.batch) == ("passive", before.id, 7)
    assert (report.replayed, report.lost, report.duplicated) == (replayed, lost, duplicated)
    assert report.seconds == 7.5
    assert report.parts == (("noticed", 5.0), ("started", 2.0), ("first batch", 0.5))
    lines = "\n".join(recovery_lines(report))
    assert f"{replayed} records read again" in lines
    assert ("lost at most what 25 records give" in lines) == (guarantee == "at-most-once")
    store.forget(run.id)
    assert store.recovery(run.id) is None
    lock.close()


def test_a_lost_run_died_after_its_last_batch(tmp_path: Path) -> None:
    store, clock = job_store(tmp_path), ManualClock(20_000)
    before = ended(store, run_of(tmp_path / "job"), "running")
    store.write_progress(before.id, progress(3, clock=12_000))
    run, lock = store.register(replace(run_of(tmp_path / "job"), started_at=clock.now()))
    RecoveryWatch(store, run, clock=clock).telling(lambda _: None)(progress(4))
    report = store.recovery(run.id)
    assert report is not None
    assert (report.died_at, report.after) == (12_000, before.id)
    lock.close()


@pytest.mark.parametrize("state", ["stopped", "finished"])
def test_a_run_that_ended_as_it_should_needs_no_recovery(tmp_path: Path, state: State) -> None:
    store = job_store(tmp_path)
    ended(store, run_of(tmp_path / "job"), state, at=5)
    ended(store, run_of(tmp_path / "another"), "failed", at=6)
    run, lock = store.register(run_of(tmp_path / "job"))
    watch = RecoveryWatch(store, run)
    watch.started(object())
    watch.telling(lambda _: None)(progress(0))
    assert recovery_of(store, str(tmp_path / "job")) is None
    lock.close()


def test_a_standby_reports_the_takeover_and_not_what_it_followed(tmp_path: Path) -> None:
    store, clock = job_store(tmp_path), ManualClock(20_000)
    run, lock = store.register(run_of(tmp_path / "job" / "standby", "shop/standby"))
    assert run.id == "shop-standby-1"
    watch = RecoveryWatch(store, run, JobSettings(recovery="active"), clock)
    query = SimpleNamespace(takeover=None)
    tell = watch.telling(lambda _: None)
    watch.started(query)
    tell(progress(5))
    assert store.recovery(run.id) is None
    query.takeover = SimpleNamespace(
        died_at=30_000, noticed_at=30_020, took_over_at=30_050, batch=6, replayed=12
    )
    clock.advance(10_400)
    tell(progress(6))
    report = recovery_of(store, str(tmp_path / "job"))
    assert report is not None
    assert (report.kind, report.batch, report.replayed) == ("active", 6, 12)
    assert (report.lost, report.duplicated, report.seconds) == (0, 0, 0.4)
    assert next(recovery_lines(report)) == "recovered    active, after its lead had died"
    lock.close()
