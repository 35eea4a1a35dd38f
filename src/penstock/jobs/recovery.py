"""What a crash has cost: which batch was half done, what was lost or doubled, how long it took.

A run that goes on after one that failed or was lost keeps a report of it, as does a standby that
took over. It is complete when the first batch after the crash is visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.jobs.job import Job
from penstock.jobs.store import JobStore
from penstock.model.job_settings import JOB_SETTINGS, Guarantee, JobSettings, Recovery
from penstock.model.progress import Progress
from penstock.model.recovery_report import RecoveryReport
from penstock.spark.half_done import HalfDone, half_done, records_from_start
from penstock.spark.standby_files import STANDBY

Tell: TypeAlias = Callable[[Progress], None]


class TookOver(Protocol):
    """When a standby began to lead, in milliseconds since 1970, and what it went on from."""

    @property
    def died_at(self) -> int:
        """The last sign of life of the lead before."""

    @property
    def noticed_at(self) -> int:
        """When that was found to be dead."""

    @property
    def took_over_at(self) -> int:
        """When nothing of it could be published any more."""

    @property
    def batch(self) -> int:
        """The last batch that it had planned."""

    @property
    def replayed(self) -> int:
        """The records that the standby was behind it."""


class RecoveryWatch:
    """Looks back when a run begins, and forward to its first result."""

    def __init__(
        self,
        store: JobStore,
        run: Job,
        how: JobSettings = JOB_SETTINGS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._store = store
        self._run = run
        self._how = how
        self._clock = clock
        self._query: object = None
        self._told: object = None
        self._report: RecoveryReport | None = None
        self._half: HalfDone | None = None
        # What cannot be read now is refused by those who need it.
        with suppress(PenstockError):
            before = crashed_before(store, run)
            if before is not None:
                self._half = half_done(Path(run.checkpoint))
                self._report = _after(store, before, run, how, self._half)

    def started(self, query: object) -> None:
        """Say that the query runs: what comes now is its own work."""
        self._query = query
        report = self._report
        if report is None or report.first_result_at is not None:
            return
        if report.kind == "upstream" and self._half is not None:
            with suppress(PenstockError):
                again = records_from_start(Path(self._run.checkpoint), self._half)
                report = replace(report, replayed=again)
        self._write(replace(report, started_at=self._clock.now()))

    def telling(self, tell: Tell) -> Tell:
        """Give one who passes progress on, and notes the first after a crash."""

        def told(progress: Progress) -> None:
            tell(progress)
            took_over = getattr(self._query, "takeover", None)
            if took_over is not None and took_over is not self._told:
                self._told = took_over
                self._report = _by_standby(took_over, self._run)
            report = self._report
            if report is not None and report.first_result_at is None:
                now = self._clock.now()
                started_at = report.started_at or now
                self._write(replace(report, started_at=started_at, first_result_at=now))

        return told

    def _write(self, report: RecoveryReport) -> None:
        self._report = report
        # A full disk ends no job that goes on.
        with suppress(PenstockError):
            self._store.write_recovery(self._run.id, report)


def crashed_before(store: JobStore, run: Job) -> Job | None:
    """Give the run before on the same checkpoint, if it did not end as it should."""
    if not run.checkpoint:
        return None
    place = Path(run.checkpoint).absolute()
    earlier = [
        found
        for found in store.runs_before(run)
        if found.checkpoint and Path(found.checkpoint).absolute() == place
    ]
    last = earlier[-1] if earlier else None
    return last if last is not None and last.state in {"failed", "lost"} else None


def recovery_of(store: JobStore, checkpoint: str) -> RecoveryReport | None:
    """Give the last report about a job, of its runs or of its standby's."""
    places = {Path(checkpoint).absolute(), Path(checkpoint).absolute() / STANDBY}
    runs = [
        run for run in store.jobs() if run.checkpoint and Path(run.checkpoint).absolute() in places
    ]
    found = [report for run in runs if (report := store.recovery(run.id)) is not None]
    return max(found, key=lambda report: report.noticed_at, default=None)


def recovery_lines(report: RecoveryReport) -> Iterator[str]:
    """Tell a report as people read it."""
    yield f"recovered    {report.kind}, after {report.after or 'its lead'} had died"
    half = f"batch {report.batch}" if report.batch >= 0 else "its first batch"
    yield f"             from {half}: {report.replayed} records read again"
    yield f"             lost {_bound(report.lost)}, doubled {_bound(report.duplicated)}"
    if report.first_result_at is None:
        yield "             no new result yet"
        return
    parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in report.parts)
    yield f"             {report.seconds:.2f} s to the first new result: {parts}"


def _bound(records: int) -> str:
    return f"at most what {records} records give" if records else "nothing"


def _after(
    store: JobStore, before: Job, run: Job, how: JobSettings, half: HalfDone
) -> RecoveryReport:
    progress = store.progress(before.id)
    seen = before.started_at if progress is None else max(before.started_at, progress.clock)
    kind: Recovery = "passive" if how.recovery == "active" else how.recovery
    return _costs(
        RecoveryReport(
            kind=kind,
            run=run.id,
            after=before.id,
            died_at=before.ended_at or seen,
            noticed_at=run.started_at,
        ),
        half,
        how.guarantee if how.recovery != "active" else "exactly-once",
    )


def _by_standby(took_over: TookOver, run: Job) -> RecoveryReport:
    report = RecoveryReport(
        kind="active",
        run=run.id,
        died_at=took_over.died_at,
        noticed_at=took_over.noticed_at,
        started_at=took_over.took_over_at,
    )
    return _costs(report, HalfDone(took_over.batch, took_over.replayed), "exactly-once")


def _costs(report: RecoveryReport, half: HalfDone, guarantee: Guarantee) -> RecoveryReport:
    """Say what the records of the half-done batch may have cost."""
    return replace(
        report,
        guarantee=guarantee,
        batch=half.batch,
        replayed=0 if guarantee == "at-most-once" else half.records,
        lost=half.records if guarantee == "at-most-once" else 0,
        duplicated=half.records if guarantee == "at-least-once" else 0,
    )
