from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream, Table
from penstock.model.physical import Keyed, Settings
from penstock.model.plan import Plan
from penstock.model.process import Process, StateField
from penstock.model.progress import Progress, StateSize
from penstock.model.refine import FOREVER, Refinement
from penstock.plan.caution import cautions
from penstock.plan.explain import Running, explain
from penstock.plan.state_bound import state_bounds
from penstock.schema.types import INT64

USER = {"id": "int64", "name": "string"}
VISIT = {"user": "int64", "page": "string", "at": "timestamp"}


def written(build: Any) -> tuple[Plan, Keyed]:  # noqa: ANN401
    app = ps.App("site")
    users = app.table("users", key="id", schema=USER)
    visits = app.stream("visits", schema=VISIT, event_time="at")
    result: Stream | Table = build(visits, users)
    result.to("out")
    return app.plan(), app.physical().operators[-1]


@pytest.mark.parametrize(
    ("build", "texts"),
    [
        (lambda v, _: v.group_by("page").count(), ["a result of each key (page)"]),
        (
            lambda v, _: v.group_by("page").window(ps.tumbling("1 minute")).count(),
            ["and window of 1m", "a window leaves 0s after its end"],
        ),
        (lambda v, _: v.dedup("user"), ["every key seen", "none ever leaves"]),
        (lambda v, _: v.dedup("user", within="1h"), ["at 1,000 rows/s"]),
        (
            lambda v, _: v.join(v, on="user", within=("5 minutes", "10 minutes")),
            ["left side, at 1,000 rows/s", "after 10m", "right side", "after 5m"],
        ),
        (
            lambda v, _: v.join(v, on="user", window=ps.tumbling("1 hour")),
            ["they leave after 1h"],
        ),
        (lambda v, u: v.join(u, on={"user": "id"}), ["the table's rows"]),
        (
            lambda v, u: v.join(u, on={"user": "id"}, as_of="event time", wait=True, keep="1h"),
            ["older versions leave 1h after their end", "rows of the left side"],
        ),
        (
            lambda v, u: v.to_table("page").join(u, on={"user": "id"}),
            ["the left table's rows", "the right table's rows"],
        ),
        (lambda v, _: v.top_n(3, by="page", group="user"), ["a row of each key"]),
    ],
)
def test_every_operator_says_what_it_remembers_and_what_ends_it(
    build: Any,  # noqa: ANN401
    texts: list[str],
) -> None:
    plan, _ = written(build)
    stage = explain(plan, stage="state")
    for text in texts:
        assert text in stage


def test_a_result_kept_for_late_rows_for_ever_has_no_bound() -> None:
    forever = Refinement(keep_late=FOREVER)
    _, keyed = written(
        lambda v, _: v.group_by("page").window(ps.tumbling("1m")).refine(forever).count()
    )
    (bound,) = state_bounds(keyed)
    assert not bound.bounded
    assert "WITHOUT BOUND" in bound.text()


def test_a_process_says_how_long_each_state_is_kept() -> None:
    plan, keyed = written(lambda v, _: v.dedup("user"))
    state = (
        StateField("seen", "value", INT64, ttl=timedelta(hours=1)),
        StateField("pages", "list", INT64),
    )
    source = keyed.relation.inputs[0]
    # It is not run.
    process = Process(source, ("user",), "watch", lambda *_: _, source.schema, state)
    seen, pages, timers = state_bounds(Keyed("process-1", process, 0, (), timedelta(0)))
    assert "it leaves when 1h unused" in seen.text()
    assert "your function clears it" in pages.text()
    assert pages.size > seen.size
    assert timers.bounded
    assert plan.name == "site"


def test_a_running_program_says_how_much_it_remembers_now() -> None:
    plan, _ = written(lambda v, _: v.dedup("user"))
    progress = Progress(batch=1, clock=0, watermark=None, states=(StateSize("dedup-1", 5, 20_000),))
    text = explain(plan, Settings(), "state", running=Running(progress=progress))
    assert "now 5 rows, 20 kB" in text


def test_a_program_without_operators_remembers_nothing() -> None:
    app = ps.App("copy")
    app.stream("visits", schema=VISIT).to("copy")
    assert "nothing is remembered" in app.explain("state")


def test_a_join_of_tables_that_multiplies_rows_is_warned_of() -> None:
    plan, _ = written(
        lambda v, u: v.to_table("page").join(
            u.join(u.select("id", other="name"), on="id").changes().to_table("name"),
            on={"user": "id"},
        )
    )
    assert any("n x m" in sentence for sentence in cautions(plan))
