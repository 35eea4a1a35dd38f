"""Programs that real-time mode can run, and those it refuses, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

import penstock as ps
from penstock.errors import PlanError
from penstock.front.dsl.stream import Stream
from penstock.plan.realtime import direct

Build: TypeAlias = Callable[[Stream], object]
COLUMNS = {"user": "string", "n": "bigint", "at": "timestamp"}


def an_app(build: Build, **more: str) -> ps.App:
    app = ps.App("clicks")
    said = {"format": "json", "event_time": "at", **more}
    build(app.stream("clicks", schema=COLUMNS, **said))  # type: ignore[arg-type]
    return app


RUNS: dict[str, Build] = {
    "filter": lambda rows: rows.filter(ps.col("n") > 0).select("user", m=ps.col("n") + 1).to("out"),
    "running": lambda rows: rows.group_by("user").agg(n=ps.count()).to("out"),
    "dedup": lambda rows: rows.dedup("n").to("out"),
    "hopping": lambda rows: (
        rows.group_by("user")
        .window(ps.hopping("10s", slide="5s"))
        .trigger(ps.when_closed(early=ps.each_batch()))
        .agg(n=ps.count())
        .to("out")
    ),
}
REFUSED: dict[str, tuple[Build, str]] = {
    "a function in Python": (
        lambda rows: rows.map(lambda row: row, schema=COLUMNS).to("out"),
        "step ",
    ),
    "a window that waits": (
        lambda rows: rows.group_by("user").window(ps.tumbling("10s")).agg(n=ps.count()).to("out"),
        'operator "agg-1" (aggregate by user)',
    ),
    "a session": (
        lambda rows: rows.group_by("user").window(ps.session("5s")).agg(n=ps.count()).to("out"),
        'operator "agg-1"',
    ),
    "results that are taken back": (
        lambda rows: rows.group_by("user").refine(ps.retracting()).agg(n=ps.count()).to("out"),
        'operator "agg-1"',
    ),
    "an aggregate that Spark has not": (
        lambda rows: rows.group_by("user").agg(n=ps.count_distinct("n")).to("out"),
        'no aggregate that is "count_distinct"',
    ),
    "copies within a time": (
        lambda rows: rows.dedup("n", within="10s").to("out"),
        'operator "dedup-1"',
    ),
    "two operators": (
        lambda rows: rows.dedup("n").group_by("user").agg(n=ps.count()).to("out"),
        'operator "agg-1"',
    ),
    "two outputs": (lambda rows: (rows.to("out"), rows.to("other")), 'output "other"'),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_spark_has_itself_can_run(name: str) -> None:
    found = direct(an_app(RUNS[name]).physical())
    assert found.output.sink.topic == "out"


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_has_not_is_refused_by_name(name: str) -> None:
    build, words = REFUSED[name]
    with pytest.raises(PlanError, match="REALTIME_OPERATOR") as caught:
        direct(an_app(build).physical())
    assert words in caught.value.fact


def test_values_that_are_no_json_are_refused() -> None:
    with pytest.raises(PlanError, match='"delimited"'):
        direct(an_app(RUNS["filter"], format="delimited").physical())
