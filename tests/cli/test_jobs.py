from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from penstock.cli.job_argument import complete_job
from penstock.cli.main import application
from penstock.jobs.definition import Definition, Event
from penstock.jobs.definitions import definition_store
from penstock.jobs.record import JobRecord
from penstock.jobs.store import JobStore, job_store
from tests.cli.shell import Cli
from tests.jobs.records import JOB, PROGRESS


@pytest.fixture
def store(cli: Cli) -> Iterator[JobStore]:
    """Jobs of two applications: one runs, one has finished, one is lost."""
    store = job_store(Path(".penstock"))
    with ExitStack() as stack:
        for name, started in (("shop", 1000), ("mail", 2000), ("mail", 3000)):
            job, lock = store.register(
                replace(JOB, name=name, application=name, started_at=started)
            )
            stack.callback(lock.close)
            if started == 2000:
                store.write(replace(job, state="finished", ended_at=2500))
            else:
                store.write(replace(job, state="running"))
            if started == 3000:
                lock.close()
        store.write_progress("shop-1", PROGRESS)
        yield store


def test_running_and_lost_jobs_are_listed_with_elements_and_user(cli: Cli, store: JobStore) -> None:
    assert cli.ok("jobs", "list").lines == [
        "job     application  state    user  pid  started               elements",
        "shop-1  shop         running  ann   42   1970-01-01T00:00:01Z  scan-views,agg-1,out-views",
        "mail-2  mail         lost     ann   42   1970-01-01T00:00:03Z  scan-views,agg-1,out-views",
    ]


def test_all_jobs_or_those_of_an_application_are_listed(cli: Cli, store: JobStore) -> None:
    found = cli.ok("jobs", "list", "--all", "--json").json
    assert [job["id"] for job in found] == ["shop-1", "mail-1", "mail-2"]
    found = cli.ok("jobs", "list", "--all", "--application", "mail", "--json").json
    assert [(job["id"], job["state"]) for job in found] == [
        ("mail-1", "finished"),
        ("mail-2", "lost"),
    ]


def test_without_jobs_the_list_is_empty(cli: Cli) -> None:
    assert cli.ok("jobs", "list", "--json").json == []
    assert "penstock run" in cli.ok("jobs", "list").err
    assert not Path(".penstock").exists()


def test_a_job_is_shown_with_all_that_is_known_of_it(cli: Cli, store: JobStore) -> None:
    assert cli.ok("jobs", "show", "shop-1").lines == [
        "job          shop-1, of application shop",
        "state        running",
        "user         ann, process 42 on here",
        "started      1970-01-01T00:00:01.000Z",
        "checkpoint   /data/shop",
        "plan         0123456789abcdef: 8 buckets, parallelism 2, fused",
        "",
        "element     kind   instances     processes",
        "scan-views  read   by partition  worker 1,worker 2",
        "agg-1       keyed  8             worker 1,worker 2",
        "out-views   write  1             driver",
        "",
        "batch        7: 10 rows in 500 ms",
        "speed        1234 rows/s",
        "clock        1970-01-01T00:10:00.000Z",
        "watermark    1970-01-01T00:02:00.000Z",
        "skew         100 to 900 ms, 250 ms on average",
        "beside       2 rows late, 1 dead letters",
        "jvm          pid 43",
        "worker       pid 44, 45",
        "",
        "scan        partition  watermark                 since",
        "scan-views  0          1970-01-01T00:02:00.000Z  1970-01-01T00:03:00.000Z"
        "  holds the watermark",
        "scan-views  1          1970-01-01T00:01:00.000Z  1970-01-01T00:01:00.000Z  idle",
        "scan-views  2          none yet                  1970-01-01T00:00:00.000Z",
        "",
        "step        taken  passed  filtered  late  dead  given",
        "scan-views  10     9       0         0     1     9",
        "agg-1       9      7       0         2     0     3",
        "",
        "state of  rows  bytes",
        "agg-1     12    4 KiB",
        "",
        "clock                     watermark",
        "1970-01-01T00:09:50.000Z  1970-01-01T00:01:50.000Z",
        "1970-01-01T00:10:00.000Z  1970-01-01T00:02:00.000Z",
    ]


def test_a_watermark_at_the_end_of_time_is_said_so(cli: Cli, store: JobStore) -> None:
    store.write_progress("shop-1", replace(PROGRESS, watermark=2**62))
    assert "watermark    the end of time" in cli.ok("jobs", "show", "shop-1").lines


def test_a_job_is_shown_as_json(cli: Cli, store: JobStore) -> None:
    found = cli.ok("jobs", "show", "shop-1", "--json").json
    assert found["elements"][1]["id"] == "agg-1"
    assert found["progress"]["partitions"][0]["holds"] is True
    assert found["progress"]["skew"] == {"least": 100, "mean": 250.5, "greatest": 900}
    assert cli.ok("jobs", "show", "mail-1", "--json").json["progress"] is None


def test_a_job_without_a_batch_and_one_that_failed_say_so(cli: Cli, store: JobStore) -> None:
    failed = replace(store.job("mail-1"), state="failed", failure="RunError: no\nand why")
    store.write(failed)
    lines = cli.ok("jobs", "show", "mail-1").lines
    assert "failure      RunError: no" in lines
    assert "ended        1970-01-01T00:00:02.500Z" in lines
    assert lines[-1] == "no batch yet"


@pytest.mark.parametrize("command", ["show", "stop"])
def test_a_job_that_does_not_exist_is_refused(cli: Cli, store: JobStore, command: str) -> None:
    ran = cli("jobs", command, "shop-7")
    assert ran.code == 1
    assert "JOB_MISSING" in ran.err


def test_a_job_stops_when_it_is_asked_to(cli: Cli) -> None:
    began = threading.Event()

    def runner() -> None:
        with JobRecord(job_store(Path(".penstock")), JOB) as record:
            began.set()
            while record.requested() is None:
                began.wait(0.01)

    thread = threading.Thread(target=runner)
    thread.start()
    began.wait()
    assert cli.ok("jobs", "stop", "shop-1").err == 'job "shop-1" is stopped\n'
    thread.join()
    assert "JOB_ENDED" in cli("jobs", "stop", "shop-1").err


def test_jobs_and_runs_are_completed(store: JobStore, cli: Cli) -> None:
    definition = Definition("mailer", "", "mail", "ann", 1, "", 0, 0)
    definition_store(Path(".penstock")).put(definition, Event(0, "ann", "submitted"))
    context = typer.Context(typer.main.get_command(application(["jobs"])))
    assert complete_job(context, "ma") == ["mailer", "mail-1", "mail-2"]
    assert complete_job(context, "shop") == ["shop-1"]


def test_a_wish_can_be_left_without_waiting(cli: Cli, store: JobStore) -> None:
    assert "was asked to stop" in cli.ok("jobs", "stop", "shop-1", "--now", "--no-wait").err
    assert "cancel" in (Path(".penstock") / "jobs" / "shop-1.stop.json").read_text()


def test_a_job_that_takes_longer_is_left_at_it(cli: Cli, store: JobStore) -> None:
    ran = cli("jobs", "stop", "shop-1", "--timeout", "0")
    assert ran.code == 1
    assert "JOB_STOPPING" in ran.err
