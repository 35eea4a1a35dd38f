"""Plans and jobs: what a program becomes, and what is known while it runs (G01 to G11).

What needs Spark (G05, G06, G09, G10) is in tests/spark/test_requirements.py, and stages that
overlap (G08) in tests/inline/test_run.py.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

import penstock as ps
from penstock.model.graph import graph_of
from penstock.plan.deployment import deploy
from penstock.serve import hosting
from penstock.spark import run as spark_run
from tests.cli.shell import Cli
from tests.eventually import eventually
from tests.requirements.events import COLUMNS, Row, event, program
from tests.requirements.homes import publish, records, to_the_end


class Waiting:
    """A query that does nothing until it is stopped: only the job around it is looked at."""

    def __init__(self) -> None:
        self._ended = Event()
        self.busy = False

    def await_end(self, timeout: timedelta | None = None) -> bool:
        return self._ended.wait(0.01 if timeout is not None else None)

    def explain(self) -> str:
        return ""

    def stop(self) -> None:
        self._ended.set()


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    monkeypatch.setattr(spark_run, "start", lambda *_, **__: Waiting())
    return Cli(capsys, monkeypatch)


def described(name: str = "counts") -> ps.App:
    app = ps.App(name)
    stream = app.stream("events", schema=COLUMNS, event_time="at")
    kept = stream.with_columns(twice=ps.col("v") * 2).filter(ps.col("v") > 1)
    kept.group_by("k").window(ps.tumbling("1 minute")).agg(n=ps.count()).to(f"{name}-by-key")
    kept.group_by("v").count().to(f"{name}-by-value")
    return app


@contextmanager
def as_jobs(cli: Cli, *apps: tuple[ps.App, str]) -> Iterator[None]:
    """Run programs as jobs of applications until the block is left."""
    threads = [
        Thread(target=app.run, kwargs={"home": ".penstock", "application": application})
        for app, application in apps
    ]
    with ExitStack() as stack:
        for thread in threads:
            thread.start()
            stack.callback(thread.join, 20)
        eventually(lambda: len(listed(cli, "running")) == len(apps))
        try:
            yield
        finally:
            for job in listed(cli, "running"):
                cli("jobs", "stop", job["id"], "--no-wait")


def listed(cli: Cli, state: str | None = None, *words: str) -> list[Row]:
    found: list[Row] = cli.ok("jobs", "list", "--all", "--json", *words).json
    return [job for job in found if state in (None, job["state"])]


# G01
def test_an_application_is_one_or_more_jobs_while_it_runs(cli: Cli) -> None:
    views, sales, other = described("views"), described("sales"), described("other")
    with as_jobs(cli, (views, "shop"), (sales, "shop"), (other, "")):
        names = [job["name"] for job in listed(cli, None, "--application", "shop")]
        assert sorted(names) == ["sales", "views"]
        assert [job["name"] for job in listed(cli, None, "--application", "other")] == ["other"]
        shown = cli.ok("jobs", "list", "--application", "shop").lines
        assert len([line for line in shown if "shop" in line]) == 2


# G02
def test_a_job_is_a_collection_of_processing_elements(cli: Cli) -> None:
    with as_jobs(cli, (described(), "")):
        (job,) = listed(cli)
        kinds = {element["id"]: element["kind"] for element in job["elements"]}
        assert kinds == {
            "scan-events": "read",
            "agg-1": "keyed",
            "agg-2": "keyed",
            "out-counts-by-key": "write",
            "out-counts-by-value": "write",
        }
        assert all(element["processes"] for element in job["elements"])
        page = cli.ok("jobs", "show", job["id"]).out
        assert all(name in page for name in kinds)


# G03; a job on Spark is followed in tests/cli/test_run.py
@pytest.mark.parametrize("words", [(), ("--now",)])
def test_jobs_are_listed_with_elements_state_and_user_and_can_be_stopped(
    cli: Cli, words: tuple[str, ...]
) -> None:
    with as_jobs(cli, (described(), "")):
        (job,) = listed(cli)
        head, line = cli.ok("jobs", "list").lines[:2]
        assert head.split()[:4] == ["job", "application", "state", "user"]
        assert line.split()[:4] == ["counts-1", "counts", "running", getpass.getuser()]
        assert "agg-1" in line
        cli.ok("jobs", "stop", job["id"], *words)
        assert [job["state"] for job in listed(cli)] == ["stopped"]


# G26
def test_a_job_runs_until_it_is_stopped_also_when_its_host_has_died(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "start", lambda *_, **__: Waiting())
    monkeypatch.setattr(hosting, "configured_session", lambda: None)
    home = Path(".penstock")
    described().submit(home=home, application="shop")
    for number in (1, 2):
        # The end of a host changes nothing of what is wished.
        with hosting.host_of(home, hosting.Jobs(home)).started():
            eventually(lambda: len(listed(cli, "running")) == 1)
        (job,) = listed(cli)
        assert (job["id"], job["job"]["wish"]) == (f"counts-{number}", "running")
    with hosting.host_of(home, hosting.Jobs(home)).started():
        eventually(lambda: len(listed(cli, "running")) == 1)
        cli.ok("jobs", "stop", "counts")
        eventually(lambda: len(listed(cli, "stopped")) == 1)
    said = [line.split("  ")[-1].strip() for line in cli.ok("jobs", "logs", "counts").lines]
    assert said.count("running") == 3


# G04
def test_the_logical_plan_is_printed_with_its_elements_and_the_streams_between() -> None:
    graph = graph_of(described().plan())
    told = described().describe()
    assert len(graph.nodes) == 7
    assert all(f"  {node.id} {node.kind}" in told for node in graph.nodes)
    assert {(edge.source, edge.target) for edge in graph.edges} == {
        ("s1", "s2"),
        ("s2", "s3"),
        ("s3", "s4"),
        ("s3", "s5"),
        ("s4", "o1"),
        ("s5", "o2"),
    }
    tree = described().explain("logical")
    assert "aggregate by k" in tree
    assert "stream events" in tree


# G05; the ids of processes in tests/spark/test_requirements.py
def test_the_physical_plan_has_processes_and_what_connects_them() -> None:
    plan = deploy(described().physical())
    names = {vertex.name for vertex in plan.processes}
    assert {"driver", "jvm", "worker 1", "worker 2"} <= names
    assert {edge.target for edge in plan.connections} | {"log"} >= names - {"driver"}
    told = described().explain("physical")
    assert all(f"{edge.source} -> {edge.target}: {edge.by}" in told for edge in plan.connections)


SETTINGS = [
    ps.Settings(),
    ps.Settings(parallelism=4),
    ps.Settings(fuse=False),
    ps.Settings(parallelism=1, buckets=3, preaggregate=False),
]


# G06; on Spark in tests/spark/test_requirements.py
def test_one_logical_plan_has_several_physical_ones_and_the_same_output() -> None:
    physical = {described().explain("physical", settings=item) for item in SETTINGS}
    logical = {described().explain("logical", settings=item) for item in SETTINGS}
    assert len(physical) == len(SETTINGS)
    assert len(logical) == 1
    results = []
    for settings in SETTINGS:
        run = described().test(settings=settings)
        run.push("events", [event(7 * n, n % 9, "abc"[n % 3]) for n in range(60)])
        run.finish()
        results.append([sorted(map(str, run.table(topic))) for topic in run.topics])
    assert all(found == results[0] for found in results)


# G07
def test_where_elements_run_is_shown_and_what_the_rules_did() -> None:
    told = described().explain()
    assert "agg-1: 4 instances, one a bucket, 2 at a time, on worker 1 to 2" in told
    assert "push_filter_before_project" in told
    fused = "for agg-1: filter v > 1"
    assert fused in told
    assert fused not in described().explain("physical", settings=ps.Settings(fuse=False))


def allocated(by: str) -> set[int]:
    """The instances of the operator that have got rows."""
    run = program(lambda stream: stream.group_by(by).count()).test()
    run.push("events", [event(n, n, "same") for n in range(64)])
    return {bucket for _, bucket in run.snapshot().states}


# G11
def test_which_instance_gets_a_row_is_chosen_by_the_columns_of_the_group() -> None:
    assert len(allocated("k")) == 1
    assert allocated("v") == set(range(ps.Settings().buckets))


# G11
@pytest.mark.parametrize(("key", "groups"), [("k", 5), (("k", "v"), 10), ((), 1)])
def test_which_partition_gets_a_record_is_chosen_by_its_key(
    tmp_path: Path, key: str | tuple[str, ...], groups: int
) -> None:
    publish(tmp_path, [event(n, n % 2, f"k{n % 5}") for n in range(50)], partitions=4)
    app = ps.App("check")
    app.stream("events", schema=COLUMNS, event_time="at").to("out", key=key)
    to_the_end(app.physical(), tmp_path)
    found = records(tmp_path, "out")
    assert len(found) == 50
    homes: dict[bytes | None, set[int]] = {}
    for row in found:
        homes.setdefault(row["_key"], set()).add(row["_partition"])
    assert len(homes) == groups
    assert all(len(places) == 1 for name, places in homes.items() if name is not None)
