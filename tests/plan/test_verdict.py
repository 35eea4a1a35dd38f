from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.job_settings import JobSettings
from penstock.model.join import Join
from penstock.model.join_bound import Whole
from penstock.model.latest import Latest
from penstock.model.measure import Measure
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.process import Process, StateField
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Filter
from penstock.model.trigger import EACH_ROW, WhenClosed
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Tumbling
from penstock.plan.finding import Kind
from penstock.plan.fingerprint import fingerprint
from penstock.plan.planner import plan
from penstock.plan.verdict import Circumstances, Lost, Verdict, Version, verdict
from penstock.schema.codec.format import Format
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from tests.plan.programs import COLUMNS, MINUTE, a_stream, above, call, col, lit, select

JSON = Format("json")
LOST = Circumstances(lost=(Lost("views", 1, 40),))
FROM_NOW = Circumstances(from_now=True)


def tidy(body: str = "return row", limit: int = 1) -> Callable[[dict[str, Any]], Any]:
    """Give a function called `tidy` as a user's file has it."""
    space: dict[str, Any] = {"__name__": "shop", "LIMIT": limit}
    exec(f"def tidy(row):\n    {body}\n", space)  # another version of one function
    found: Callable[[dict[str, Any]], Any] = space["tidy"]
    return found


def counted(source: Relation, **how: Any) -> Aggregate:  # noqa: ANN401
    said = {
        "keys": ("region",),
        "measures": (Measure("rows", "count"),),
        "window": Tumbling(MINUTE),
    }
    return Aggregate(source, **{**said, **how})


def shop(
    source: Relation | None = None,
    *more: Sink,
    site: str = "",
    **how: Any,  # noqa: ANN401
) -> Physical:
    """Rows with n above 1, each through a function, counted by region and minute."""
    views = source or Filter(a_stream(site=site), above("n", 1), site)
    applied = Apply(views, "tidy", how.pop("function", tidy()), "map", COLUMNS, site)
    settings = how.pop("settings", Settings())
    of_it = Sink(counted(applied, site=site, **how), "out", format=JSON, site=site)
    return plan(Plan("shop", (of_it, *more)), settings)


def of(*relations: Relation, format: Format | None = JSON) -> Physical:  # noqa: A002
    sinks = (Sink(item, f"out-{number}", format=format) for number, item in enumerate(relations))
    return plan(Plan("shop", tuple(sinks)), Settings())


def joined(how: Any) -> Join:  # noqa: ANN401
    left, right = Latest(a_stream(), ("user",)), Latest(a_stream("users"), ("user",))
    from penstock.model.join import Pick  # noqa: PLC0415

    picks = (
        Pick("user", "user", "user"),
        Pick("page", left="page"),
        Pick("region", right="region"),
    )
    return Join(left, right, (("user", "user"),), how, Whole(), picks)


class Visits:
    """Counts rows; what it remembers is declared beside it."""

    def process(self, row: dict[str, Any]) -> None:
        raise NotImplementedError


def remembering(*fields: StateField) -> Process:
    gives = Schema((Field("user", STRING), Field("rows", INT64)))
    return Process(a_stream(), ("user",), "visits", Visits(), gives, fields)  # type: ignore[arg-type]


ONE = Schema((Field("n", INT64),))
ROWS = StateField("rows", "value", INT64)
BY_USER = counted(a_stream(), keys=("user",))
BY_REGION = counted(a_stream())
BRANCH = Sink(select(a_stream(), "user", "page"), "seen")

EDITS: dict[str, tuple[Physical, Physical, Circumstances, Kind, str]] = {
    "nothing": (shop(), shop(), Circumstances(), "unchanged", "as it was"),
    "another line": (
        shop(site="shop.py:1"),
        shop(site="shop.py:9"),
        Circumstances(),
        "unchanged",
        "as it was",
    ),
    "lateness": (
        shop(),
        shop(refinement=Refinement(keep_late=timedelta(hours=1))),
        Circumstances(),
        "compatible",
        "late rows are taken for 1:00:00 from now on, and were for 0:00:00",
    ),
    "watermark": (
        shop(),
        shop(
            Filter(replace(a_stream(), watermark=BoundedDisorder(MINUTE)), above("n", 1)),
        ),
        Circumstances(),
        "compatible",
        'how late its rows may come in topic "views" is another from now on',
    ),
    "a branch taken away": (
        shop(None, BRANCH),
        shop(),
        Circumstances(),
        "compatible",
        '"seen" is not written any more and stays as it is',
    ),
    "the first of two operators taken away": (
        of(BY_USER, BY_REGION),
        plan(Plan("shop", (Sink(BY_REGION, "out-1", format=JSON),)), Settings()),
        Circumstances(),
        "compatible",
        "operators have other names: agg-2 is agg-1",
    ),
    "another batch limit": (shop(), shop(), Circumstances(), "compatible", "job settings"),
    "a measure more": (
        shop(),
        shop(measures=(Measure("rows", "count"), Measure("most", "max", (col("n"),)))),
        Circumstances(),
        "migrate",
        'new measure "most" = max(n): groups that have rows already count it from now on',
    ),
    "a column of a table more": (
        of(Latest(select(a_stream(), "user", "page"), ("user",))),
        of(Latest(select(a_stream(), "user", "page", "region"), ("user",))),
        Circumstances(),
        "migrate",
        "gets another form",
    ),
    "a field of a process more": (
        of(remembering(ROWS)),
        of(remembering(ROWS, StateField("last", "value", STRING))),
        Circumstances(),
        "migrate",
        "gets another form",
    ),
    "more tasks": (
        shop(),
        shop(settings=Settings(parallelism=4)),
        Circumstances(),
        "migrate",
        "it runs with 4 tasks, and ran with 2",
    ),
    "a filter": (
        shop(),
        shop(Filter(a_stream(), above("n", 2))),
        Circumstances(),
        "rebuild",
        '"filter n > 2" is now where "filter n > 1" was',
    ),
    "a filter gone": (shop(), shop(a_stream()), Circumstances(), "rebuild", "is gone"),
    "a filter, from now on": (
        shop(),
        shop(Filter(a_stream(), above("n", 2))),
        FROM_NOW,
        "compatible",
        "from now on, as was asked",
    ),
    "an expression": (
        of(select(a_stream(), "user", n=call("add", col("n"), lit(1)))),
        of(select(a_stream(), "user", n=call("add", col("n"), lit(2)))),
        Circumstances(),
        "rebuild",
        'column "n" is computed in another way',
    ),
    "the text of a function": (
        shop(),
        shop(function=tidy("return dict(row)")),
        Circumstances(),
        "rebuild",
        "the code of",
    ),
    "a value that a function uses": (
        shop(function=tidy("return row if row['n'] > LIMIT else None")),
        shop(function=tidy("return row if row['n'] > LIMIT else None", 2)),
        Circumstances(),
        "rebuild",
        "the code of",
    ),
    "a column more before a function": (
        of(
            Apply(
                select(a_stream(), "user"),
                "tidy",
                tidy(),
                "filter",
                select(a_stream(), "user").schema,
            )
        ),
        of(Apply(a_stream(), "tidy", tidy(), "filter", COLUMNS)),
        Circumstances(),
        "migrate",
        "gets other columns from now on",
    ),
    "a column that a function reads": (
        of(Apply(select(a_stream(), n=col("n")), "tidy", tidy(), "filter", ONE)),
        of(
            Apply(
                select(a_stream(), n=call("add", col("n"), lit(1))), "tidy", tidy(), "filter", ONE
            )
        ),
        Circumstances(),
        "rebuild",
        "read columns that are others",
    ),
    "a key": (shop(), shop(keys=("user",)), Circumstances(), "rebuild", "its key is user"),
    "a window": (
        shop(),
        shop(window=Tumbling(2 * MINUTE)),
        Circumstances(),
        "rebuild",
        "its window was",
    ),
    "a trigger": (
        shop(),
        shop(trigger=WhenClosed(early=EACH_ROW)),
        Circumstances(),
        "rebuild",
        "its trigger was",
    ),
    "a join": (
        of(joined("left"), format=None),
        of(joined("inner"), format=None),
        Circumstances(),
        "rebuild",
        "its kind was",
    ),
    "a new output": (
        shop(),
        shop(None, BRANCH),
        Circumstances(),
        "rebuild",
        '"seen" is new, and holds nothing of what was read so far',
    ),
    "a new output, from now on": (shop(), shop(None, BRANCH), FROM_NOW, "compatible", "is new"),
    "a new operator": (
        of(BY_REGION),
        of(BY_REGION, BY_USER),
        FROM_NOW,
        "rebuild",
        "is new and remembers nothing yet",
    ),
    "a rebuild without its input": (
        shop(),
        shop(Filter(a_stream(), above("n", 2))),
        LOST,
        "refuse",
        'topic "views" is no longer whole: partition 1 begins at offset 40',
    ),
    "a change that needs no history": (
        shop(),
        shop(measures=(Measure("rows", "count"), Measure("most", "max", (col("n"),)))),
        LOST,
        "migrate",
        "from now on",
    ),
    "a topic that another job writes": (
        shop(),
        shop(),
        Circumstances(writers={"out": "other"}),
        "refuse",
        'job "other" writes "out" already',
    ),
    "a column of a topic with a schema": (
        of(select(a_stream(), "user"), format=None),
        of(select(a_stream(), "user", "page"), format=None),
        Circumstances(),
        "refuse",
        "which a topic with a schema has for good",
    ),
    "a topic made anew": (
        of(select(a_stream(), "user"), format=None),
        of(select(a_stream(), "user", "page"), format=None),
        Circumstances(replaces=True),
        "rebuild",
        "made anew",
    ),
    "changes written as bytes": (
        of(counted(a_stream(), refinement=Refinement("retracting"))),
        of(counted(a_stream(), keys=("page",), refinement=Refinement("retracting"))),
        Circumstances(),
        "refuse",
        "holds changes as bytes",
    ),
    "another topic": (
        of(select(a_stream(), "user")),
        of(select(a_stream("visits"), "user")),
        Circumstances(),
        "rebuild",
        'it reads topic "visits", and read "views"',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_kind_of_edit_has_the_verdict_that_is_expected_of_it(edit: str) -> None:
    before, after, how, kind, reason = EDITS[edit]
    fewer = JobSettings(batch_rows=1) if edit == "another batch limit" else JobSettings()
    found = verdict(Version(before), Version(after, fewer), how)
    assert (found.kind, reason in found.reason) == (kind, True), found.reason


def test_the_verdict_is_told_by_operator_and_says_whose_state_is_taken_over() -> None:
    before = of(BY_USER, BY_REGION)
    after = plan(Plan("shop", (Sink(BY_REGION, "out-1", format=JSON),)), Settings())
    found = verdict(Version(before), Version(after))
    assert found.operators == {"agg-1": "agg-2"}
    assert found.of("agg-1") == "compatible"
    changed = verdict(Version(before), Version(of(counted(a_stream(), keys=("page",)), BY_REGION)))
    assert (changed.of("agg-1"), changed.of("agg-2")) == ("rebuild", "unchanged")


def test_a_change_that_only_its_fingerprint_shows_is_one_of_code_that_is_imported() -> None:
    one = shop()
    found = verdict(Version(one, fingerprint="another"), Version(one, fingerprint=fingerprint(one)))
    assert (found.kind, found.reason) == (
        "rebuild",
        "the code of a function that it imports has changed",
    )
    assert verdict(Version(one, fingerprint="x"), Version(one, fingerprint="x")) == Verdict(
        "unchanged", "it is as it was", (), {"agg-1": "agg-1"}
    )
