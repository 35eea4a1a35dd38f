"""Programs that the tests of the planner speak about."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Cast, Column, Constant, Expr, Literal
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Union
from penstock.model.top_n import TopN
from penstock.model.trigger import AfterDelay, AfterRows, Repeat, WhenClosed
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Session, Tumbling
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING, TIMESTAMP, Type

MINUTE = timedelta(minutes=1)
COLUMNS = Schema(
    (
        Field("user", STRING, nullable=False),
        Field("region", STRING),
        Field("page", STRING),
        Field("n", INT64),
        Field("at", TIMESTAMP),
    )
)


def a_stream(topic: str = "views", *, event_time: str | None = "at", site: str = "") -> Stream:
    return Stream(topic, COLUMNS, event_time, BoundedDisorder(timedelta(seconds=10)), site=site)


def col(name: str) -> Column:
    return Column(name)


def lit(value: Constant) -> Literal:
    return Literal(value)


def call(function: str, *arguments: Expr) -> Call:
    return Call(function, arguments)


def cast(operand: Expr, type_: Type) -> Cast:
    return Cast(operand, type_)


def above(name: str, value: int) -> Call:
    return call("gt", col(name), lit(value))


def select(source: Relation, *names: str, **computed: Expr) -> Project:
    passed = tuple(Named(name, col(name)) for name in names)
    return Project(source, passed + tuple(Named(name, expr) for name, expr in computed.items()))


def count_by(source: Relation, *keys: str, site: str = "") -> Aggregate:
    """How many rows of each key, in minutes."""
    return Aggregate(source, keys, (Measure("rows", "count"),), Tumbling(MINUTE), site=site)


def running_sum(source: Relation, column: str) -> Aggregate:
    return Aggregate(source, (), (Measure("total", "sum", (col(column),)),))


def program(*relations: Relation, name: str = "shop") -> Plan:
    """Every relation written to a topic of its own: out, out-2, ..."""
    topics = ["out", *(f"out-{number}" for number in range(2, len(relations) + 1))]
    return Plan(name, tuple(Sink(r, topic) for r, topic in zip(relations, topics, strict=True)))


def the_shop() -> Plan:
    """Views by region in minutes, early and late, their total, and the views themselves."""
    views = a_stream(site="shop.py:4")
    seen = Filter(Filter(views, above("n", 0), "shop.py:6"), above("n", 1), "shop.py:7")
    by_region = Aggregate(
        seen,
        ("region",),
        (Measure("views", "count"), Measure("people", "count_distinct", (col("user"),))),
        Tumbling(MINUTE),
        WhenClosed(Repeat(AfterDelay(timedelta(seconds=10))), Repeat(AfterRows(1))),
        Refinement("retracting", timedelta(hours=1)),
        site="shop.py:9",
    )
    return Plan(
        "shop",
        (
            Sink(by_region, "views_by_region", ("region",), site="shop.py:13"),
            Sink(running_sum(by_region, "views"), "views_in_all", site="shop.py:15"),
            Sink(select(seen, "user", "page"), "seen", late=None, site="shop.py:17"),
        ),
    )


def tidy(row: dict[str, object]) -> dict[str, object]:
    """A function of the user's."""
    return row


def the_feed() -> Plan:
    """Sessions of two streams, first visits, and the three longest sessions of a region."""
    views, visits = a_stream("views", site="feed.py:3"), a_stream("visits", site="feed.py:4")
    known = Expect(views, "named", call("ne", col("user"), lit("")), "drop", "feed.py:6")
    tidied = Apply(visits, "tidy", tidy, "map", COLUMNS, "feed.py:7")
    both = Union((known, tidied), "feed.py:8")
    sessions = Aggregate(
        both,
        ("user", "region"),
        (Measure("rows", "count"), Measure("last", "last", (col("page"),))),
        Session(timedelta(minutes=5)),
        site="feed.py:9",
    )
    longest = TopN(sessions, ("region",), "rows", 3, site="feed.py:12")
    first = Dedup(both, ("user",), timedelta(days=1), site="feed.py:14")
    return Plan(
        "feed",
        (
            Sink(longest, "longest", late="tardy", site="feed.py:13"),
            Sink(select(first, "user", "at"), "first", site="feed.py:15"),
        ),
    )
