from __future__ import annotations

import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.app import App
from penstock.errors import JobError, RunError
from penstock.jobs.job import Job
from penstock.jobs.stop import ask_to_stop
from penstock.jobs.store import job_store
from penstock.notebook.background_job import BackgroundJob
from tests.eventually import eventually


class Stubborn:
    """A run that does not end when it is asked to."""

    def __init__(self, *_: object, **__: object) -> None:
        self.report = SimpleNamespace(counts={})
        self.ended = threading.Event()

    def run(self) -> None:
        """Go on."""
        self.ended.wait(10)

    def stop(self) -> None:
        """Listen to nobody."""


class Broken(Stubborn):
    """A run that fails in a way that nobody thought of."""

    def run(self) -> None:  # type: ignore[explicit-override]  # a stand-in
        """Fail."""
        raise ValueError("seven")


def program(home: Path) -> App:
    app = App("shop", home=home)
    app.stream("clicks", schema={"page": "string"}).to("copied")
    return app


def started(home: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> BackgroundJob:  # noqa: ANN401  # a stand-in
    monkeypatch.setattr("penstock.inline.run.InlineRun", run)
    return BackgroundJob(program(home))


def test_a_job_that_does_not_end_is_told_and_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.notebook.background_job._END_SECONDS", 0.01)
    job = started(tmp_path, monkeypatch, Stubborn)
    with pytest.raises(RunError, match="NOTEBOOK_JOB_BUSY"):
        job.stop()
    job._run.ended.set()  # type: ignore[attr-defined]  # of the stand-in


def test_a_job_that_fails_says_so_where_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = started(tmp_path, monkeypatch, Broken)
    job._thread.join(10)
    assert job.state == "failed"
    assert "[NOTEBOOK_JOB_FAILED]" in job.page().text()
    assert "ValueError: seven" in job.page().html()


class Patient(Stubborn):
    """A run that ends when it is asked to."""

    def stop(self) -> None:  # type: ignore[explicit-override]  # a stand-in
        """End."""
        self.ended.set()


def run_of(home: Path) -> Job:
    (found,) = job_store(home).jobs()
    return found


def test_other_processes_see_it_as_a_run_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = started(tmp_path, monkeypatch, Patient)
    eventually(lambda: run_of(tmp_path).state == "running")
    seen = run_of(tmp_path)
    assert (seen.name, seen.application, seen.pid) == ("shop", "notebook", os.getpid())
    with pytest.raises(JobError, match="JOB_BUSY"):
        BackgroundJob(program(tmp_path))
    job.stop()
    assert run_of(tmp_path).state == "stopped"


def test_it_ends_when_another_process_asks_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.notebook.background_job._LOOK_SECONDS", 0.01)
    job = started(tmp_path, monkeypatch, Patient)
    ask_to_stop(job_store(tmp_path), run_of(tmp_path).id)
    job._thread.join(10)
    assert (job.state, run_of(tmp_path).state) == ("stopped", "stopped")


def test_a_job_that_fails_is_a_run_that_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(tmp_path, monkeypatch, Broken)._thread.join(10)
    assert run_of(tmp_path).state == "failed"
    assert "seven" in run_of(tmp_path).failure
