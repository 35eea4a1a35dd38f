"""A program that runs in the background of a notebook; running it again replaces it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.config import load_settings
from penstock.errors import PenstockError, RunError
from penstock.jobs.record import JobRecord, new_job
from penstock.jobs.stop import requested_stop
from penstock.jobs.store import job_store
from penstock.model.physical import Physical
from penstock.notebook.page import Page
from penstock.plan.fingerprint import fingerprint
from penstock.plan.verdict import Version, verdict

if TYPE_CHECKING:
    from penstock.app import App
    from penstock.inline.run import InlineRun

KERNEL = "notebook"
"""The application of all runs of kernels, as `penstock jobs list` shows them."""
_END_SECONDS = 30.0
_LOOK_SECONDS = 1.0
_FOLDER = "notebook"
_PROGRAM = "program"
_GOES_ON = ("unchanged", "compatible")
_COLUMNS = (("step", ""), ("in", "rows"), ("out", "rows"), ("dead", "rows"))


class BackgroundJob:
    """Runs a program in this process, an event at a time, until it is stopped or replaced."""

    def __init__(self, app: App, *, note: str = "", rebuild: bool = False) -> None:
        from penstock.inline.run import InlineOptions, InlineRun  # noqa: PLC0415  # the kernel

        chosen = load_settings()
        options = InlineOptions(
            state=chosen.state_store, database=chosen.state_database, rebuild=rebuild
        )
        place = checkpoint_of(app)
        self.physical = app.physical()
        if not rebuild and not note:
            _require_same(place, self.physical)
        self.name = app.name
        self.note = note
        self.failure: PenstockError | None = None
        self.is_stopped = False
        self._asked = ""
        self._store = job_store(app.home)
        described = new_job(self.physical, application=KERNEL, checkpoint=str(place.absolute()))
        self._record = JobRecord(self._store, described)
        self._over = threading.Event()
        try:
            self._run: InlineRun = InlineRun(
                self.physical, home=app.home, checkpoint=place, options=options
            )
            place.mkdir(parents=True, exist_ok=True)
            (place / _PROGRAM).write_text(fingerprint(self.physical), encoding="utf-8")
        except BaseException:
            self._record.__exit__(*sys.exc_info())
            raise
        self._thread = threading.Thread(target=self._work, name=f"job-{app.name}", daemon=True)
        self._thread.start()
        self._shown: tuple[object, ...] = ()

    @property
    def state(self) -> str:
        """What it does."""
        if self.failure is not None:
            return "failed"
        if self._thread.is_alive():
            return "stopping" if self.is_stopped else "running"
        return "stopped"

    def stop(self) -> None:
        """Let it end after what it has read; its state is kept."""
        self.is_stopped = True
        self._run.stop()
        self._thread.join(_END_SECONDS)
        if self._thread.is_alive():
            raise RunError(
                "NOTEBOOK_JOB_BUSY",
                f'job "{self.name}" has not ended within {_END_SECONDS:g} seconds',
                hint="Wait until it is done with what it has read, and run the cell again.",
            )

    def read(self) -> bool:
        """Look at it anew; whether it looks otherwise."""
        seen = (self.state, self._rows())
        changed = seen != self._shown
        self._shown = seen
        return changed

    def wait(self, seconds: float) -> None:
        """Wait before the next look."""
        time.sleep(seconds)

    def page(self) -> Page:
        """Show what it does, and how many rows it has worked on."""
        below = self.note
        if self.failure is not None:
            below = f"[{self.failure.code}] {self.failure.fact}. {self.failure.hint}"
        return Page(f"job {self.name}: {self.state}", _COLUMNS, self._rows(), below)

    def close(self) -> None:
        """Nothing is held by looking."""

    def _rows(self) -> tuple[tuple[object, ...], ...]:
        counts = dict(self._run.report.counts)
        return tuple((step, one.taken, one.passed, one.dead) for step, one in counts.items())

    def _work(self) -> None:
        heeding = threading.Thread(
            target=self._heed_wishes, name=f"wishes-{self.name}", daemon=True
        )
        try:
            with self._record as record:
                record.running()
                heeding.start()
                try:
                    self._run.run()
                finally:
                    self._over.set()
                    heeding.join()
                if self.is_stopped:
                    record.stopping(self._asked or "its notebook ends it")
        except PenstockError as error:
            self.failure = error
        except Exception as error:  # noqa: BLE001  # the cell that has begun it is over
            self.failure = RunError(
                "NOTEBOOK_JOB_FAILED",
                f'job "{self.name}" failed: {type(error).__name__}: {error}',
                hint="Correct the program and run the cell again.",
            )

    def _heed_wishes(self) -> None:
        """End it where another process asks for that, as `penstock jobs stop` does."""
        while not self._over.wait(_LOOK_SECONDS):
            wish = requested_stop(self._store, self._record.job.id)
            if wish is not None:
                self._asked = f"{wish.user or 'somebody'} asked it to {wish.mode}"
                self.is_stopped = True
                self._run.stop()
                return


def checkpoint_of(app: App) -> Path:
    """Give where a program of a notebook keeps what it remembers, apart from jobs of its name."""
    return app.home / _FOLDER / app.name


class BackgroundJobs:
    """The jobs of a notebook by their names."""

    def __init__(self) -> None:
        self._jobs: dict[str, BackgroundJob] = {}

    def run(self, app: App, *, rebuild: bool = False) -> BackgroundJob:
        """Start a program; the one of its name that runs is stopped first.

        It goes on with what that remembered where this fits the program; where not, and with
        `rebuild`, it begins anew, drops what it has written, and says so.
        """
        old = self._jobs.get(app.name)
        if old is not None:
            old.stop()
        job = BackgroundJob(app, rebuild=rebuild) if old is None else _next(old, app, rebuild)
        self._jobs[app.name] = job
        return job

    def end(self) -> None:
        """Stop all."""
        for job in list(self._jobs.values()):
            job.stop()

    def end_quietly(self) -> None:
        """Stop all at the end of the kernel; one that takes long shows as lost."""
        with contextlib.suppress(PenstockError):
            self.end()


def _next(old: BackgroundJob, app: App, rebuild: bool) -> BackgroundJob:  # noqa: FBT001  # of ours
    found = verdict(Version(old.physical), Version(app.physical()))
    same_places = all(new == before for new, before in found.operators.items())
    if rebuild or found.kind not in _GOES_ON or not same_places:
        why = "" if rebuild else f", since {found.reason or 'its steps are others'}"
        return BackgroundJob(app, note=f"replaced; it begins anew{why}", rebuild=True)
    return BackgroundJob(app, note="replaced; it goes on with what it remembered")


def _require_same(place: Path, physical: Physical) -> None:
    """Refuse another program in the place of one that this notebook does not know."""
    file = place / _PROGRAM
    if file.is_file() and file.read_text(encoding="utf-8") != fingerprint(physical):
        raise RunError(
            "NOTEBOOK_JOB_CHANGED",
            f'job "{physical.name}" of an earlier notebook was another program',
            hint="Begin anew with run(app, rebuild=True), which drops what it has written, or give"
            " it another name.",
        )
