from __future__ import annotations

import datetime as dt
import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import penstock as ps
from penstock.clock import ManualClock
from penstock.errors import ConfigError, JobError
from penstock.jobs.job import Job
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from penstock.plan.planner import plan
from penstock.watch.column_origin import Source
from penstock.watch.lineage import JobLineage, graph_lines, job_lineage, plan_of
from penstock.watch.lineage_emitter import (
    LineageEmitter,
    LineageSettings,
    lineage_settings,
)
from penstock.watch.open_lineage import Run, run_event
from tests.jobs.records import JOB
from tests.watch.http_server import HttpServer
from tests.watch.open_lineage_schema import RUN_EVENT

VIEWS = {"userid": str, "pageid": str, "viewtime": "timestamp", "ms": int}


def shop(home: Path | None = None) -> ps.App:
    app = ps.App("shop", home=home or Path("nowhere"))
    views = app.stream("pageviews", schema=VIEWS, event_time="viewtime", lateness="10s")
    users = app.table("users", key="userid", schema={"userid": str, "region": str})
    joined = views.filter(ps.col("ms") > 3).join(users, on="userid", how="left")
    (
        joined.group_by("region")
        .window(ps.tumbling("1 minute"))
        .agg(n=ps.count(), total=ps.sum("ms"))
        .to("by_region")
    )
    joined.select("pageid", slow=ps.col("ms") * 2).to("slow")
    return app


def columns(lineage: JobLineage, place: int) -> dict[str, dict[tuple[str, str], str]]:
    found = lineage.outputs[place].lineage.columns
    return {
        name: {(source.name, source.column): how for source, how in origins.items()}
        for name, origins in found.items()
    }


def checked(event: dict[str, Any]) -> dict[str, Any]:
    """Refuse what OpenLineage would refuse, formats included."""
    Draft202012Validator(RUN_EVENT).validate(event)
    uuid.UUID(event["run"]["runId"])
    assert dt.datetime.fromisoformat(event["eventTime"]).tzinfo is not None
    return event


def test_every_column_is_followed_to_the_columns_it_is_made_of() -> None:
    lineage = job_lineage(shop().plan())
    assert [item.name for item in lineage.inputs] == ["pageviews", "users"]
    time = {("pageviews", "viewtime"): "TRANSFORMATION"}
    assert columns(lineage, 0) == {
        "region": {("users", "region"): "IDENTITY"},
        "window_start": time,
        "window_end": time,
        "n": {},
        "total": {("pageviews", "ms"): "AGGREGATION"},
    }
    assert columns(lineage, 1) == {
        "pageid": {("pageviews", "pageid"): "IDENTITY"},
        "slow": {("pageviews", "ms"): "TRANSFORMATION"},
    }
    decides = {(s.name, s.column, why) for s, why in lineage.outputs[0].lineage.decides}
    assert decides == {
        ("pageviews", "ms", "FILTER"),
        ("pageviews", "userid", "JOIN"),
        ("users", "userid", "JOIN"),
        ("users", "region", "GROUP_BY"),
        ("pageviews", "viewtime", "WINDOW"),
    }


def test_what_the_planner_makes_of_a_program_has_the_same_lineage() -> None:
    app = shop()
    meant, planned = job_lineage(app.plan()), job_lineage(plan_of(plan(app.plan())))
    for place in (0, 1):
        assert columns(planned, place) == columns(meant, place)


def test_a_function_of_the_users_may_make_anything_of_all_it_sees() -> None:
    app = ps.App("a", home=Path("nowhere"))
    stream = app.stream("x", schema={"a": int, "b": int})
    stream.map(lambda row: {"c": row["a"]}, schema={"c": int}).to("mapped")
    stream.filter(lambda row: row["a"] > 1).to("filtered")
    lineage = job_lineage(app.plan())
    assert columns(lineage, 0) == {
        "c": {("x", "a"): "TRANSFORMATION", ("x", "b"): "TRANSFORMATION"}
    }
    assert columns(lineage, 1)["a"] == {("x", "a"): "IDENTITY"}
    assert (Source("topic", "x", "b"), "FILTER") in lineage.outputs[1].lineage.decides


def test_unions_tables_and_static_rows_are_followed_too(tmp_path: Path) -> None:
    app = ps.App("a", home=Path("nowhere"))
    one, two = (app.stream(name, schema={"id": str, "n": int}) for name in ("one", "two"))
    both = one.union(two)
    both.top_n(3, by="n", group="id").to("best")
    names = ps.static([{"id": "x", "label": "X"}])
    both.enrich(names, on="id").to("named")
    lineage = job_lineage(app.plan())
    assert columns(lineage, 0)["n"] == {("one", "n"): "IDENTITY", ("two", "n"): "IDENTITY"}
    kinds = {source.kind for source in lineage.outputs[1].lineage.columns["label"]}
    assert kinds == {"static"}
    assert {item.kind for item in lineage.inputs} == {"topic", "static"}


def test_the_graph_is_drawn_with_names_in_quotes() -> None:
    lines = list(graph_lines([replace(job_lineage(shop().plan()), job='a"b')]))
    assert lines[0] == "digraph lineage {"
    assert '  "pageviews" -> "job:a\\"b";' in lines
    assert '  "job:a\\"b" -> "by_region";' in lines


def test_events_are_what_open_lineage_asks_for() -> None:
    lineage = job_lineage(shop().plan())
    start = checked(run_event(lineage, Run("shop-1", 5, 10, "START")))
    done = checked(run_event(lineage, Run("shop-1", 5, 20, "COMPLETE", bounded=True)))
    failed = checked(run_event(lineage, Run("shop-2", 6, 20, "FAIL", failure="it broke"), "here"))
    assert start["run"] == done["run"]
    assert start["run"]["runId"] != failed["run"]["runId"]
    assert failed["run"]["facets"]["errorMessage"]["message"] == "it broke"
    assert [item["name"] for item in start["inputs"]] == ["pageviews", "users"]
    fields = start["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert fields["total"]["inputFields"][0]["field"] == "ms"
    assert fields["n"]["inputFields"] == []
    assert {item["namespace"] for item in failed["inputs"]} == {"here"}


def test_the_check_of_events_would_find_what_is_wrong() -> None:
    event = run_event(job_lineage(shop().plan()), Run("shop-1", 5, 10, "START"))
    for path in (("eventTime",), ("run", "runId"), ("outputs", 0, "facets", "schema", "_producer")):
        broken = json.loads(json.dumps(event))
        place = broken
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]
        assert not Draft202012Validator(RUN_EVENT).is_valid(broken)


def a_run(home: Path, clock: ManualClock) -> JobRecord:
    return JobRecord(job_store(home), replace(JOB, checkpoint=""), clock=clock)


def test_runs_are_told_when_they_begin_and_end_and_only_once(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    clock = ManualClock(1000)

    def emit(event: Any) -> None:  # noqa: ANN401
        told.append((event["eventType"], checked(event)["job"]["name"]))

    def watched() -> LineageEmitter:
        lineage = job_lineage(shop().plan())
        return LineageEmitter(tmp_path, LineageSettings(), emit, lambda _: lineage)

    with a_run(tmp_path, clock):
        pass
    watched().look(0)
    assert told == []
    with a_run(tmp_path, clock) as run:
        run.running()
        watched().look(0)
        watched().look(0)
    watched().look(0)
    with pytest.raises(JobError), a_run(tmp_path, clock):
        raise JobError("X", "it broke")
    watched().look(0)
    watched().look(0)
    assert [kind for kind, _ in told] == ["START", "COMPLETE", "START", "FAIL"]


def test_a_run_whose_program_is_gone_is_told_without_what_it_reads(tmp_path: Path) -> None:
    told: list[Any] = []

    def gone(_: Job) -> JobLineage:
        raise JobError("CHECKPOINT_MISSING", "there is none")

    emitter = LineageEmitter(tmp_path, LineageSettings(), told.append, gone)
    emitter.look(0)
    with a_run(tmp_path, ManualClock(1)):
        emitter.look(0)
        assert told == []
    emitter.look(0)
    assert [event["eventType"] for event in told] == ["START", "COMPLETE"]
    assert told[0]["inputs"] == []


def test_events_are_posted_with_the_token_and_appended_to_a_file(tmp_path: Path) -> None:
    lineage = job_lineage(shop().plan())
    with HttpServer([500]) as server:
        settings = lineage_settings(
            {"url": f"{server.url}/api/v1/lineage", "file": str(tmp_path / "events.jsonl"),
             "token_env": "T"},
            {"T": "tok"},
        )  # fmt: skip
        assert settings is not None
        emitter = LineageEmitter(tmp_path, settings, lookup=lambda _: lineage)
        emitter.look(0)
        with a_run(tmp_path, ManualClock(1)):
            emitter.look(0)
            assert "WEBHOOK_UNREACHABLE" in emitter.problem
            emitter.look(1)
            emitter.look(30_000)
            assert emitter.problem == ""
    assert [item.path for item in server.posted] == ["/api/v1/lineage"] * 2
    assert server.posted[1].headers["Authorization"] == "Bearer tok"
    (line,) = (tmp_path / "events.jsonl").read_text().splitlines()
    assert checked(json.loads(line))["eventType"] == "START"
    assert "tok" not in repr(settings)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    settings = LineageSettings(file=str(tmp_path / "none" / "x"))
    lineage = job_lineage(shop().plan())
    emitter = LineageEmitter(tmp_path, settings, lookup=lambda _: lineage)
    emitter.look(0)
    with a_run(tmp_path, ManualClock(1)):
        emitter.look(0)
    assert "LINEAGE_FILE" in emitter.problem


def test_settings_of_lineage_are_read_and_wrong_ones_refused() -> None:
    assert lineage_settings({}) is None
    assert lineage_settings({"namespace": "x"}) is None
    with pytest.raises(ConfigError, match="LINEAGE_SETTINGS"):
        lineage_settings({"ulr": "http://x"})
    with pytest.raises(ConfigError, match="SECRET_WRITTEN"):
        lineage_settings({"url": "http://x", "token": "t"})
