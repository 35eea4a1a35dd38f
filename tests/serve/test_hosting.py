"""What a host is to run, as definitions and the SQL catalog have it; nothing here runs on Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import JobError, StorageError
from penstock.jobs import control
from penstock.jobs.definitions import DefinitionStore, definition_store
from penstock.jobs.host import Host
from penstock.jobs.runnable import Runnable
from penstock.jobs.store import job_store
from penstock.model.job_settings import JobSettings
from penstock.serve import hosting
from penstock.serve.hosting import Jobs, host_of, run_until_idle, run_worker
from penstock.sql import query_job
from tests.eventually import eventually
from tests.jobs.hosted import FakeQuery
from tests.sql.kit import opened, told

SQL = """
CREATE STREAM sales (id STRING KEY, item STRING, amount INT)
  WITH (KAFKA_TOPIC='sales', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE STREAM large AS SELECT * FROM sales WHERE amount > 10;
"""


class Engine:
    """Stands where Spark would: queries by the name of their program."""

    def __init__(self) -> None:
        self.queries: dict[str, list[FakeQuery]] = {}
        self.asked: list[dict[str, Any]] = []
        self.failures: dict[str, Exception] = {}
        self.ends = False

    def start(self, physical: Any, **how: Any) -> FakeQuery:  # noqa: ANN401  # as Spark's
        query = FakeQuery(self.failures.get(physical.name))
        self.queries.setdefault(physical.name, []).append(query)
        self.asked.append(how)
        if self.ends:
            query.end()
        return query


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    for module in (hosting, query_job):
        monkeypatch.setattr(module, "start", found.start)
        monkeypatch.setattr(module, "configured_session", lambda: None)
    return found


def program(name: str = "shop", least: int = 1) -> ps.App:
    app = ps.App(name)
    app.stream("views", schema={"n": int}).filter(ps.col("n") > least).to("kept")
    return app


@contextmanager
def hosted(home: Path) -> Iterator[Host]:
    with Jobs(home) as jobs:
        host = host_of(home, jobs)
        host._look = 0.01
        with host.started():
            yield host


def names(jobs: Jobs) -> list[str]:
    return [runnable.name for runnable in jobs.wanted()]


def states(host: Host) -> dict[str, str]:
    return {job.name: job.state for job in host.view.jobs}


def test_jobs_that_are_wished_to_run_are_wanted_and_no_others(tmp_path: Path) -> None:
    with Jobs(tmp_path / "none yet") as jobs:
        assert names(jobs) == []
    program("a").submit(home=tmp_path)
    program("b").submit(home=tmp_path, paused=True)
    with Jobs(tmp_path) as jobs:
        assert names(jobs) == ["a"]
        control.resume(tmp_path, "b")
        control.pause(tmp_path, "a")
        assert names(jobs) == ["b"]


def test_a_look_reads_only_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        program(f"job-{number}").submit(home=tmp_path)
    read: list[str] = []
    get = DefinitionStore.get

    def counted(store: DefinitionStore, name: str) -> object:
        read.append(name)
        return get(store, name)

    with Jobs(tmp_path) as jobs:
        first = jobs.wanted()
        monkeypatch.setattr(DefinitionStore, "get", counted)
        assert list(jobs.wanted()) == list(first)
        assert read == []
        program("job-3").submit(home=tmp_path, how=JobSettings(batch_rows=7))
        read.clear()
        changed = [new for new, old in zip(jobs.wanted(), first, strict=True) if new != old]
        assert read == ["job-3"]
        assert [(found.name, found.settings.batch_rows) for found in changed] == [("job-3", 7)]
        assert changed[0].version != first[3].version


def test_a_definition_that_cannot_be_read_leaves_the_other_jobs_alone(
    tmp_path: Path, engine: Engine
) -> None:
    program("a").submit(home=tmp_path)
    program("b").submit(home=tmp_path)
    (tmp_path / "definitions" / "a" / "definition.json").write_text("{")
    with hosted(tmp_path) as host:
        eventually(lambda: states(host) == {"a": "failed", "b": "running"})
        (failed,) = [job for job in host.view.jobs if job.name == "a"]
        assert "JOB_UNREADABLE" in failed.failure
        assert list(host.failures) == ["a"]


def test_a_host_follows_what_is_wished_of_jobs(tmp_path: Path, engine: Engine) -> None:
    program("a").submit(home=tmp_path)
    with hosted(tmp_path) as host:
        eventually(lambda: states(host) == {"a": "running"})
        program("b").submit(home=tmp_path)
        eventually(lambda: states(host) == {"a": "running", "b": "running"})
        control.pause(tmp_path, "a")
        eventually(lambda: states(host) == {"b": "running"})
        assert engine.queries["a"][0].stopped
        control.resume(tmp_path, "a")
        eventually(lambda: states(host) == {"a": "running", "b": "running"})
    assert len(engine.queries["a"]) == 2
    assert [len(engine.queries[name]) for name in "ab"] == [2, 1]
    assert {how["until"] for how in engine.asked} == {"stopped"}
    assert {str(how["checkpoint"]) for how in engine.asked} == {
        str(tmp_path / "jobs" / name) for name in "ab"
    }


def test_after_a_host_is_gone_the_next_one_has_all_its_jobs(tmp_path: Path, engine: Engine) -> None:
    program("a").submit(home=tmp_path)
    program("b").submit(home=tmp_path)
    for life in (1, 2):
        with hosted(tmp_path) as host:
            eventually(lambda: states(host) == {"a": "running", "b": "running"})
        assert len(engine.queries["a"]) == life


def test_a_bounded_job_that_has_finished_is_not_wished_to_run_again(
    tmp_path: Path, engine: Engine
) -> None:
    engine.ends = True
    program("a").submit(home=tmp_path, bounded=True)
    with hosted(tmp_path) as host:
        eventually(lambda: definition_store(tmp_path).get("a").wish == "stopped")
        eventually(lambda: states(host) == {})
    assert engine.asked[0]["until"] == "end"
    assert definition_store(tmp_path).history("a")[-1].what == "finished"


def test_queries_of_the_catalog_run_until_they_are_paused(tmp_path: Path, engine: Engine) -> None:
    with opened(tmp_path) as session:
        told(session, SQL)
        with hosted(tmp_path) as host:
            eventually(lambda: list(states(host).values()) == ["running"])
            (query,) = states(host)
            told(session, f"PAUSE {query};")
            eventually(lambda: states(host) == {})
            told(session, f"RESUME {query};")
            eventually(lambda: states(host) == {query: "running"})
    assert len(engine.queries[query]) == 2
    assert [run.application for run in job_store(tmp_path).jobs()] == ["sql", "sql"]


def test_a_query_that_another_process_runs_is_left_to_it(tmp_path: Path, engine: Engine) -> None:
    with opened(tmp_path) as session:
        told(session, SQL)
    with Jobs(tmp_path) as jobs:
        (found,) = jobs.wanted()
        held = found.begin(lambda _: None)
        with pytest.raises(JobError, match="JOB_BUSY"):
            found.begin(lambda _: None)
        held.stop()
        assert isinstance(found, Runnable)
        found.begin(lambda _: None).stop()


def test_until_idle_all_take_what_there_is_and_failures_are_given(
    tmp_path: Path, engine: Engine
) -> None:
    engine.ends = True
    for name in "abc":
        program(name).submit(home=tmp_path)
    assert run_until_idle(tmp_path) == {}
    assert {how["until"] for how in engine.asked} == {"caught up"}
    control.pause(tmp_path, "c")
    broken = StorageError("TOPIC_MISSING", "it is gone")
    engine.failures["b"] = broken
    assert run_until_idle(tmp_path) == {"b": broken}


def test_a_worker_runs_one_job_that_is_wished_to_run(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.ends = True
    program("a").submit(home=tmp_path)
    reading, writing = os.pipe()
    with open(reading) as orders, open(writing, "w"):  # noqa: PTH123  # a pipe
        monkeypatch.setattr("sys.stdin", orders)
        # It ends at once when its host is gone, which here is this test.
        monkeypatch.setattr("os._exit", lambda _: None)
        assert run_worker(tmp_path, "a", restarts=3) == 0
        (run,) = job_store(tmp_path).jobs()
        assert (run.state, run.restarts) == ("finished", 3)
        with pytest.raises(JobError, match="is not wished to run"):
            run_worker(tmp_path, "b")
