from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import JobError
from penstock.jobs.job import Job, State
from penstock.jobs.named import hushed, named, names, require_defined
from penstock.jobs.store import job_store
from penstock.jobs.submit import Submission, submit
from penstock.jobs.view import view_document, view_of, views
from penstock.model.progress import PartitionPosition
from tests.jobs.defined import a_program
from tests.jobs.records import JOB, PROGRESS


def a_run(home: Path, state: State, *, checkpoint: str = "") -> Job:
    """A run of the job, or of a program that is none, which has ended or is lost."""
    place = checkpoint or str(home / "jobs" / "shop")
    run, lock = job_store(home).register(replace(JOB, checkpoint=place))
    job_store(home).write(replace(run, state=state, failure="no" if state == "failed" else ""))
    lock.close()
    return run


def test_a_job_shows_what_is_wished_until_it_runs(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    assert view_of(tmp_path, "shop").state == "waiting"
    submit(tmp_path, a_program("other"), Submission(wish="paused"))
    assert [(view.name, view.state) for view in views(tmp_path)] == [
        ("other", "paused"),
        ("shop", "waiting"),
    ]


@pytest.mark.parametrize(
    ("run", "shown"),
    [("failed", "failed"), ("finished", "finished"), ("stopped", "waiting"), ("lost", "waiting")],
)
def test_a_run_that_has_ended_shows_only_where_it_matters(
    tmp_path: Path, run: State, shown: str
) -> None:
    submit(tmp_path, a_program())
    a_run(tmp_path, run)
    assert view_of(tmp_path, "shop").state == shown


def test_runs_of_a_job_are_its_own_and_others_are_loose(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    a_run(tmp_path, "failed")
    mine = a_run(tmp_path, "finished")
    loose = a_run(tmp_path, "finished", checkpoint="/elsewhere")
    shop, other = views(tmp_path)
    assert shop.run is not None
    assert [run.id for run in shop.runs] == ["shop-1", "shop-2"]
    assert [run.id for run in shop.errors] == ["shop-1"]
    assert (other.definition, other.name) == (None, loose.id)
    assert view_of(tmp_path, "shop").run == shop.runs[-1]
    assert view_of(tmp_path, "shop-1").run == shop.runs[0]
    assert names(tmp_path) == ["shop", "shop-1", "shop-2", "shop-3"]
    assert named(tmp_path, mine.id).definition == require_defined(tmp_path, "shop")
    with pytest.raises(JobError, match="JOB_UNDEFINED"):
        require_defined(tmp_path, loose.id)
    with pytest.raises(JobError, match="JOB_MISSING") as caught:
        named(tmp_path, "shopp")
    assert caught.value.hint == 'Did you mean "shop"?'


def test_the_standby_of_a_job_is_a_run_of_it_and_not_the_one_that_is_shown(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    leading = a_run(tmp_path, "finished")
    standby = a_run(tmp_path, "finished", checkpoint=str(tmp_path / "jobs" / "shop" / "standby"))
    view = view_of(tmp_path, "shop")
    assert [run.id for run in view.runs] == [leading.id, standby.id]
    assert view.run is not None
    assert view.run.id == leading.id


def test_a_standby_that_goes_on_for_a_dead_run_is_the_one_that_is_shown(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    dead, store = a_run(tmp_path, "running"), job_store(tmp_path)
    standby = replace(JOB, checkpoint=str(tmp_path / "jobs" / "shop" / "standby"), state="running")
    run, lock = store.register(standby)
    view = view_of(tmp_path, "shop")
    assert view.run is not None
    assert (view.run.id, view.state) == (run.id, "running")
    lock.close()
    view = view_of(tmp_path, "shop")
    assert view.run is not None
    assert (view.run.id, view.state) == (dead.id, "waiting")


def test_the_lag_is_that_of_now(tmp_path: Path) -> None:
    with ps.open_log(tmp_path) as log:
        log.create_topic("views", partitions=1)
        with ps.Producer(log) as producer:
            for _ in range(5):
                producer.send("views", b"x")
    submit(tmp_path, a_program())
    run = a_run(tmp_path, "stopped")
    places = (PartitionPosition("views", 0, 3, 3), PartitionPosition("gone", 0, 1, 2))
    job_store(tmp_path).write_progress(run.id, replace(PROGRESS, positions=places))
    view = view_of(tmp_path, "shop")
    assert view.lag == 3
    assert view.progress is not None
    assert [place.end for place in view.progress.positions] == [5, 2]
    document = view_document(view)
    assert (document["lag"], document["watermark"]) == (3, PROGRESS.watermark)
    assert document["job"]["settings"]["guarantee"] == "exactly-once"


def test_a_loose_run_is_not_stopped_for_an_operation(tmp_path: Path) -> None:
    store = job_store(tmp_path)
    run, lock = store.register(replace(JOB, checkpoint="/elsewhere"))
    found = named(tmp_path, run.id)
    with pytest.raises(JobError, match="JOB_RUNNING"), hushed(tmp_path, found, 1):
        pass
    lock.close()
    with hushed(tmp_path, named(tmp_path, run.id), 1):
        pass
