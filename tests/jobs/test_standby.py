"""The standby of a job in its host: a run of its own, which quiet operations stop as well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, cast

import pytest

import penstock as ps
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.quiet import quiet, runs_on
from penstock.jobs.standby import hand_back, is_standby, standbys
from penstock.jobs.stop import requested_stop
from penstock.jobs.store import job_store
from penstock.jobs.submit import Submission, submit
from penstock.model.job_settings import JobSettings
from penstock.serve.hosting import Jobs, definition_runnable

if TYPE_CHECKING:
    from penstock.spark.standby.pair import ActiveQuery

ACTIVE = JobSettings(recovery="active", isolation="shared")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    app = ps.App("shop")
    app.stream("views", schema={"user": str}).to("copy")
    submit(tmp_path, app.physical(), Submission(settings=ACTIVE))
    return tmp_path


def test_a_host_runs_a_standby_in_a_process_of_its_own(home: Path) -> None:
    with Jobs(home) as jobs:
        job, standby = jobs.wanted()
    assert (job.name, job.settings) == ("shop", ACTIVE)
    assert is_standby(standby.name)
    assert not is_standby(job.name)
    assert standby.settings.isolation == "process"
    assert standby.version == job.version
    described = standby.describe()
    assert described.name == "shop/standby"
    assert described.checkpoint == str(Path(job.describe().checkpoint) / "standby")
    assert list(standbys(home, [replace(job, settings=JobSettings())])) == []


def test_a_job_that_ends_by_itself_has_no_standby(home: Path) -> None:
    definition = definition_store(home).get("shop")
    for bounded, until in ((True, "stopped"), (False, "caught up")):
        runnable = definition_runnable(home, replace(definition, bounded=bounded), until)  # type: ignore[arg-type]
        assert runnable.settings.recovery == "passive"


def test_what_wants_a_job_quiet_stops_its_standby_too(home: Path) -> None:
    store = job_store(home)
    definition = definition_store(home).get("shop")
    checkpoint = checkpoint_of(home, definition)
    (checkpoint / "standby").mkdir(parents=True)
    with Jobs(home) as jobs:
        _, standby = jobs.wanted()
    run, held = store.register(standby.describe())
    assert runs_on(store, str(checkpoint)) == [run.id]
    place = store.work_lock(run.checkpoint)
    assert place.acquire(0)

    def obey() -> None:
        while requested_stop(store, run.id) is None:
            pass
        place.close()

    thread = Thread(target=obey)
    thread.start()
    with quiet(home, "shop", 10):
        thread.join()
    held.close()


def test_a_standby_without_a_host_hands_the_lead_back_when_it_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.jobs.standby._LOOK", 0.001)
    looks = iter([False, True, False, *[True] * 5])
    ended: list[str] = []

    class Followed:
        status = "running"

        @property
        def is_followed(self) -> bool:
            return next(looks)

        def abandon(self) -> None:
            ended.append("abandoned")

    hand_back(cast("ActiveQuery", Followed()), parent=-1).join(10)
    assert ended == ["abandoned"]
    assert list(looks) == []
