from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.errors import JobError
from penstock.jobs import control
from penstock.jobs.definitions import definition_store
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from penstock.jobs.submit import Submission, submit
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from tests.jobs.defined import a_program
from tests.jobs.records import JOB
from tests.kafka.cluster import Brokers


def a_job(home: Path, submission: Submission | None = None) -> None:
    submit(home, a_program(), submission)


@contextmanager
def at_work(home: Path) -> Iterator[None]:
    """A run of the job on another thread, which ends when it is asked to."""
    began = threading.Event()
    run = replace(JOB, checkpoint=str(home / "jobs" / "shop"))

    def work() -> None:
        with JobRecord(job_store(home), run) as record:
            record.running()
            began.set()
            while record.requested() is None:
                began.wait(0.005)
                threading.Event().wait(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    yield
    thread.join(10)
    assert not thread.is_alive()


def told(home: Path) -> list[str]:
    return [event.what for event in definition_store(home).history("shop")]


@pytest.mark.parametrize("verb", ["pause", "stop", "cancel"])
def test_a_job_that_runs_is_asked_to_end_and_stays_so(tmp_path: Path, verb: str) -> None:
    a_job(tmp_path)
    with at_work(tmp_path):
        if verb == "pause":
            control.pause(tmp_path, "shop")
        else:
            control.stop(tmp_path, "shop", mode="cancel" if verb == "cancel" else "stop")
        control.wait_until_ended(tmp_path, "shop", 5)
    wish = definition_store(tmp_path).get("shop").wish
    assert wish == ("paused" if verb == "pause" else "stopped")
    expected = {"pause": "paused", "stop": "stopped", "cancel": "cancelled"}[verb]
    assert told(tmp_path) == ["submitted", expected]


def test_a_wish_that_is_there_already_is_not_told_again(tmp_path: Path) -> None:
    a_job(tmp_path, Submission(wish="paused"))
    control.pause(tmp_path, "shop")
    control.resume(tmp_path, "shop")
    control.resume(tmp_path, "shop")
    assert told(tmp_path) == ["submitted", "resumed"]


def test_a_stopped_job_is_started_and_not_resumed(tmp_path: Path) -> None:
    a_job(tmp_path)
    control.stop(tmp_path, "shop")
    with pytest.raises(JobError, match="JOB_NOT_PAUSED"):
        control.resume(tmp_path, "shop")
    assert control.start(tmp_path, "shop").wish == "running"


def test_one_that_its_host_has_given_up_can_be_started_again(tmp_path: Path) -> None:
    a_job(tmp_path)
    before = definition_store(tmp_path).get("shop").changed_at
    assert control.start(tmp_path, "shop").changed_at >= before
    assert told(tmp_path) == ["submitted", "started"]


def test_a_run_that_does_not_end_is_refused_in_time(tmp_path: Path) -> None:
    a_job(tmp_path)
    with at_work(tmp_path):
        with pytest.raises(JobError, match="JOB_STOPPING"):
            control.wait_until_ended(tmp_path, "shop", 0)
        control.stop(tmp_path, "shop")


def test_only_a_job_that_is_not_to_run_is_removed_with_its_state_and_runs(tmp_path: Path) -> None:
    a_job(tmp_path)
    with pytest.raises(JobError, match="JOB_RUNNING"):
        control.remove(tmp_path, "shop")
    with at_work(tmp_path):
        control.stop(tmp_path, "shop")
    for place in ("shop", "shop.v2-0a1b2c3d", "shop.v2", "shop-2"):
        (tmp_path / "jobs" / place).mkdir()
    control.remove(tmp_path, "shop")
    assert definition_store(tmp_path).names() == ()
    assert job_store(tmp_path).jobs() == ()
    left = sorted(path.name for path in (tmp_path / "jobs").iterdir() if path.is_dir())
    assert left == ["shop-2", "shop.v2"]
    a_job(tmp_path)
    assert definition_store(tmp_path).get("shop").version == 1


def test_the_consumer_group_of_a_removed_job_goes_with_it(tmp_path: Path) -> None:
    a_job(tmp_path, Submission(wish="stopped"))
    with open_log(tmp_path) as log:
        log.create_topic("views", partitions=1)
        for group in ("shop", "others"):
            log.commit(group, {TopicPartition("views", 0): 0})
        control.remove(tmp_path, "shop")
        assert log.groups() == ("others",)


def test_the_group_of_a_removed_job_goes_from_kafka_too(
    kafka: Brokers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_LOG", f"kafka://{kafka.address}")
    home, topic = load_settings().home, kafka.topic()
    name = f"shop-{topic}"
    submit(home, a_program(name), Submission(wish="stopped"))
    with open_log(home) as log:
        log.commit(name, {TopicPartition(topic, 0): 0})
        assert name in log.groups()
        control.remove(home, name)
        assert name not in log.groups()
    assert not (home / "log").exists()


def test_the_state_of_a_removed_job_can_be_kept(tmp_path: Path) -> None:
    a_job(tmp_path, Submission(wish="stopped"))
    (tmp_path / "jobs" / "shop").mkdir(parents=True)
    control.remove(tmp_path, "shop", keep_state=True)
    assert (tmp_path / "jobs" / "shop").exists()
