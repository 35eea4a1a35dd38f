from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import JobError, StateError, UsageError
from penstock.jobs.definitions import definition_store
from penstock.jobs.submit import Submission, job_program, known_program, put_version, submit
from penstock.jobs.view import view_document, views
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Settings
from penstock.plan.fingerprint import fingerprint
from penstock.spark.identity import keep_identity, new_identity
from penstock.spark.job_files import current_files
from tests.jobs.defined import a_program


def test_a_program_becomes_a_job_that_is_to_run(tmp_path: Path) -> None:
    done = submit(tmp_path, a_program(), Submission(source="shop.py"), clock=ManualClock(7))
    job = done.definition
    assert done.outcome == "new"
    assert (job.name, job.application, job.version, job.wish) == ("shop", "shop", 1, "running")
    assert (job.created_at, job.fingerprint) == (7, fingerprint(a_program()))
    (event,) = definition_store(tmp_path).history("shop")
    assert (event.what, event.detail, event.at) == ("submitted", "shop.py", 7)
    assert job_program(tmp_path, job) == known_program(tmp_path, "shop") == a_program()


def test_the_same_program_again_changes_nothing(tmp_path: Path) -> None:
    first = submit(tmp_path, a_program())
    again = submit(tmp_path, a_program())
    assert (again.outcome, again.definition) == ("unchanged", first.definition)
    assert len(definition_store(tmp_path).history("shop")) == 1


def test_other_settings_are_taken_over_and_told(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    how = JobSettings(latency=timedelta(seconds=1), guarantee="at-most-once")
    done = submit(tmp_path, a_program(), Submission(settings=how))
    assert (done.outcome, done.definition.settings) == ("settings", how)
    assert done.definition.version == 1
    assert done.changed == "guarantee at-most-once, latency 0:00:01"
    done = submit(tmp_path, a_program(), Submission(settings=how, application="all"))
    assert (done.changed, done.definition.application) == ("application all", "all")
    done = submit(tmp_path, a_program(), Submission(settings=how, bounded=True))
    assert (done.changed, done.definition.bounded) == ("with an end", True)


def test_a_definition_that_is_damaged_is_mended_by_submitting_again(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    (tmp_path / "definitions" / "shop" / "definition.json").write_text("{")
    with pytest.raises(JobError, match="JOB_UNREADABLE"):
        definition_store(tmp_path).get("shop")
    done = submit(tmp_path, a_program())
    assert (done.outcome, done.definition.version) == ("new", 2)


def test_a_definition_that_is_damaged_hides_no_other(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    submit(tmp_path, a_program(), Submission(name="shop-2"))
    (tmp_path / "definitions" / "shop" / "definition.json").write_text("{")
    whole, damaged = views(tmp_path)
    assert (whole.name, damaged.name, damaged.state) == ("shop-2", "shop", "damaged")
    assert "definition.json" in view_document(damaged)["failure"]


def test_another_program_is_refused_under_a_name_that_is_taken(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    with pytest.raises(JobError, match="JOB_CHANGED") as caught:
        submit(tmp_path, a_program(above=2))
    assert "penstock plan" in caught.value.hint
    done = submit(tmp_path, a_program(above=2), Submission(name="shop-2"))
    assert job_program(tmp_path, done.definition).name == "shop-2"


def test_a_new_version_is_put_beside_the_old_ones_and_the_oldest_forgotten(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    store = definition_store(tmp_path)
    for number in range(2, 14):
        put_version(store, "shop", a_program(above=number))
    assert store.get("shop").version == 13
    assert store.versions("shop") == tuple(range(4, 14))
    assert job_program(tmp_path, store.get("shop")) == a_program(above=13)
    assert store.history("shop")[-1].detail == "version 13"


def test_a_program_runs_in_the_tasks_that_its_checkpoint_is_kept_by(tmp_path: Path) -> None:
    job = submit(tmp_path, a_program()).definition
    files = current_files(tmp_path / "jobs" / "shop")
    kept = Settings(buckets=4, parallelism=7)
    keep_identity(files, new_identity(replace(a_program(), settings=kept)))
    assert job_program(tmp_path, job).settings == kept


@pytest.mark.parametrize("name", ["", "a b", "../up", ".hidden", "x" * 101])
def test_a_name_that_cannot_stand_in_a_path_is_refused(tmp_path: Path, name: str) -> None:
    program = a_program("a b")
    with pytest.raises(UsageError, match="JOB_NAME"):
        submit(tmp_path, program, Submission(name=name))


def test_a_program_that_does_not_fit_the_state_there_is_refused_at_once(tmp_path: Path) -> None:
    files = current_files(tmp_path / "jobs" / "shop")
    keep_identity(files, new_identity(replace(a_program(), levels=())))
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM"):
        submit(tmp_path, a_program())
    assert definition_store(tmp_path).names() == ()


def test_two_jobs_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    place = str(tmp_path / "jobs" / "shop")
    with pytest.raises(UsageError, match="JOB_CHECKPOINT"):
        submit(tmp_path, a_program("other"), Submission(checkpoint=place))
    assert definition_store(tmp_path).names() == ("shop",)
