from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from penstock.errors import RunError
from penstock.front.sql.statement import Started
from penstock.jobs.runnable import Runnable
from penstock.sql import spark_jobs
from penstock.sql.query_place import taken
from penstock.sql.spark_jobs import catch_up_on_spark, run_on_spark
from tests.sql.kit import ORDERS, opened, rows, told

TWO = "CREATE STREAM one AS SELECT * FROM orders; CREATE STREAM two AS SELECT * FROM orders;"


class Job(threading.Thread):
    """What stands for a job on Spark: it runs until it is stopped."""

    made: list[Job]
    fails = ""

    def __init__(self, home: Path, runnable: Runnable) -> None:
        del home
        super().__init__()
        self.runnable = runnable
        self.done = None
        self.found_busy = False
        self.failure = RunError("RUN", "it failed") if runnable.name == self.fails else None
        self._ended = threading.Event()
        if self.failure is not None:
            self._ended.set()
        self.made.append(self)

    @override
    def run(self) -> None:
        # One that is to catch up is run by who asks for it.
        if threading.current_thread() is self:
            self._ended.wait()

    def ask_to_stop(self) -> None:
        self._ended.set()

    def stop(self) -> None:
        self._ended.set()
        self.join()


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    monkeypatch.setattr(spark_jobs, "_QueryJob", Job)
    monkeypatch.setattr(spark_jobs, "configured_session", lambda: None)
    monkeypatch.setattr(spark_jobs, "_LOOK", 0.01)
    monkeypatch.setattr(Job, "made", [], raising=False)
    monkeypatch.setattr(Job, "fails", "")
    return Job.made


def test_jobs_follow_the_catalog_until_they_are_interrupted(
    tmp_path: Path, jobs: list[Job]
) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{TWO}")
        looks: list[Sequence[Started]] = []

        def wanted() -> Sequence[Started]:
            found = session.definitions().runnable
            looks.append(found)
            match len(looks):
                case 2:
                    assert all(job.is_alive() for job in jobs)
                    told(session, "PAUSE CSAS_ONE_2;")
                case 4:
                    alive = [job.runnable.name for job in jobs if job.is_alive()]
                    assert alive == ["CSAS_TWO_4"]
                    told(session, "RESUME ALL;")
                case 6:
                    raise KeyboardInterrupt
                case _:
                    pass
            return found

        run_on_spark(tmp_path, wanted)
    assert [job.runnable.name for job in jobs] == ["CSAS_ONE_2", "CSAS_TWO_4", "CSAS_ONE_2"]
    assert not any(job.is_alive() for job in jobs)


def test_a_failure_of_one_ends_all(
    tmp_path: Path, jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Job, "fails", "CSAS_TWO_4")
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{TWO}")
        with pytest.raises(RunError, match="it failed"):
            run_on_spark(tmp_path, lambda: session.definitions().runnable)
        with pytest.raises(RunError, match="it failed"):
            catch_up_on_spark(tmp_path, session.definitions().runnable)
    assert not any(job.is_alive() for job in jobs)


def test_what_was_begun_without_spark_goes_on_so(tmp_path: Path, jobs: list[Any]) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{TWO}INSERT INTO orders VALUES ('a', 'x', 1);")
        with taken(tmp_path, "CSAS_ONE_2", "here"):
            pass
        catch_up_on_spark(tmp_path, session.definitions().runnable)
        assert rows(session, "SELECT id FROM one;") == [("a",)]
        assert [job.runnable.name for job in jobs] == ["CSAS_TWO_4"]
