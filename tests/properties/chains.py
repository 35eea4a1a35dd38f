"""Random programs over one stream, each with the SQL that says what they amount to.

Every relation has the columns k, g and n, so that any step can follow any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

import duckdb
import polars as pl
from hypothesis import strategies as st

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Column, Constant, Expr, Literal
from penstock.model.measure import Function, Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import FOREVER, Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Named, Project, Union
from penstock.model.top_n import TopN
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterRows,
    Always,
    Never,
    Repeat,
    Trigger,
    WhenClosed,
)
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Global, Hopping, Session, Tumbling, Window
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

Row: TypeAlias = dict[str, Any]
Draw: TypeAlias = st.DrawFn

DISORDER = 2_000
NAMES = ("k", "g", "n")
COLUMNS = Schema(tuple(Field(name, INT64) for name in (*NAMES, "at")))
RETRACTING = Refinement("retracting", keep_late=FOREVER)
TYPES = {name: pl.Int64() for name in (*NAMES, "at")}


@dataclass(frozen=True, slots=True)
class Step:
    """A relation, and the query that gives its final rows."""

    relation: Relation
    sql: str


def a_stream(topic: str = "in", *, changelog: bool = False) -> Stream:
    strategy = BoundedDisorder(timedelta(milliseconds=DISORDER))
    return Stream(topic, COLUMNS, "at", strategy, changelog=changelog)


def source(*, changelog: bool = False) -> Step:
    return Step(a_stream(changelog=changelog), "SELECT k, g, n, t FROM source")


def chains(*, changelog: bool = False, longest: int = 3) -> st.SearchStrategy[Step]:
    """A first step on the stream, and up to so many after it."""

    @st.composite
    def chain(draw: Draw) -> Step:
        begin = source(changelog=changelog)
        step = draw(st.sampled_from([windowed, narrowed]))(draw, begin)
        earlier = [step]
        for _ in range(draw(st.integers(0, longest))):
            step = draw(st.sampled_from(STEPS))(draw, step, earlier)
            earlier.append(step)
        return step

    return chain()


def plan_of(step: Step) -> Plan:
    return Plan("random", (Sink(step.relation, "out"),))


def narrowed(_: Draw, step: Step) -> Step:
    return Step(_named(step.relation), f"SELECT k, g, n FROM ({step.sql})")


def windowed(draw: Draw, step: Step) -> Step:
    """Totals of windows of event time, refined by retractions whenever some trigger says so."""
    window, rows = draw(st.sampled_from(WINDOWS))(step.sql)
    measure, sql = draw(st.sampled_from(MEASURES))
    trigger = draw(st.sampled_from(TRIGGERS))
    aggregate = Aggregate(
        step.relation,
        ("k",),
        (Measure("n", measure, (Column("n"),)), Measure("g", "count")),
        window,
        trigger,
        RETRACTING,
    )
    query = f"SELECT k, count(*) AS g, {sql} AS n FROM ({rows}) GROUP BY k, w"
    return Step(_named(aggregate), query)


def filtered(draw: Draw, step: Step, _: list[Step]) -> Step:
    column = draw(st.sampled_from(NAMES))
    limit = draw(st.integers(-2, 6))
    condition = Call("gt", (Column(column), Literal(limit)))
    return Step(
        Filter(step.relation, condition), f"SELECT * FROM ({step.sql}) WHERE {column} > {limit}"
    )


def aggregated(draw: Draw, step: Step, _: list[Step]) -> Step:
    """Running totals by some of the columns, which take back what they replace."""
    keys = draw(st.sampled_from([(), ("k",), ("g",), ("k", "g")]))
    measure, sql = draw(st.sampled_from(MEASURES))
    measures = [Measure("n", measure, (Column("n"),))]
    parts = [f"{sql} AS n"]
    if "k" not in keys:
        measures.append(Measure("k", "max", (Column("k"),)))
        parts.append("max(k) AS k")
    if "g" not in keys:
        measures.append(Measure("g", "count"))
        parts.append("count(*) AS g")
    aggregate = Aggregate(step.relation, keys, tuple(measures), refinement=RETRACTING)
    by = f"GROUP BY {', '.join(keys)}" if keys else "HAVING count(*) > 0"
    columns = ", ".join([*keys, *parts])
    return Step(_named(aggregate), f"SELECT k, g, n FROM (SELECT {columns} FROM ({step.sql}) {by})")


def best(draw: Draw, step: Step, _: list[Step]) -> Step:
    """The best rows by a number that differs wherever the rows do."""
    keys = draw(st.sampled_from([(), ("k",), ("g",)]))
    count, descending = draw(st.integers(1, 3)), draw(st.booleans())
    ranked = Project(
        step.relation, (*(Named(name, Column(name)) for name in NAMES), Named("rank", _rank()))
    )
    top = TopN(ranked, keys, "rank", count, descending=descending)
    by = f"PARTITION BY {', '.join(keys)}" if keys else ""
    order = "DESC" if descending else "ASC"
    place = f"row_number() OVER ({by} ORDER BY {RANK} {order} NULLS LAST)"
    inner = f"SELECT k, g, n, {place} AS place FROM ({step.sql})"
    return Step(_named(top), f"SELECT k, g, n FROM ({inner}) WHERE place <= {count}")


def distinct(_: Draw, step: Step, __: list[Step]) -> Step:
    return Step(
        _named(Dedup(_named(step.relation), NAMES)), f"SELECT DISTINCT k, g, n FROM ({step.sql})"
    )


def united(draw: Draw, step: Step, earlier: list[Step]) -> Step:
    other = draw(st.sampled_from(earlier))
    return Step(
        Union((_named(step.relation), _named(other.relation))),
        f"SELECT k, g, n FROM ({step.sql}) UNION ALL SELECT k, g, n FROM ({other.sql})",
    )


def _named(relation: Relation) -> Project:
    return Project(relation, tuple(Named(name, Column(name)) for name in NAMES))


def _rank() -> Expr:
    """(n * 1000 + g) * 10 + k, with a number of its own for null."""
    high = Call("multiply", (_or_number("n"), Literal(1000)))
    middle = Call("multiply", (Call("add", (high, _or_number("g"))), Literal(10)))
    return Call("add", (middle, _or_number("k")))


def _or_number(column: str) -> Expr:
    return Call("coalesce", (Column(column), Literal(NOTHING[column])))


NOTHING: dict[str, Constant] = {"k": 9, "g": 999, "n": -7777}
RANK = "((coalesce(n, -7777) * 1000 + coalesce(g, 999)) * 10 + coalesce(k, 9))"
MEASURES: list[tuple[Function, str]] = [
    ("sum", "CAST(sum(n) AS BIGINT)"),
    ("min", "min(n)"),
    ("max", "max(n)"),
    ("count", "count(n)"),
    ("count_distinct", "count(DISTINCT n)"),
]
TRIGGERS: list[Trigger | None] = [
    None,
    EACH_ROW,
    Never(),
    Repeat(AfterRows(3)),
    Repeat(Always()),
    Repeat(AfterDelay(timedelta(seconds=1))),
    WhenClosed(early=Repeat(AfterRows(2)), late=EACH_ROW),
    WhenClosed(early=Repeat(AfterDelay(timedelta(seconds=1))), late=Repeat(AfterRows(2))),
]


def _tumbling(rows: str) -> tuple[Window, str]:
    size = 5_000
    return Tumbling(timedelta(milliseconds=size)), f"SELECT *, t // {size} AS w FROM ({rows})"


def _hopping(rows: str) -> tuple[Window, str]:
    copies = f"SELECT *, t // 2000 - i AS w FROM ({rows}), range(3) AS r(i)"
    window = Hopping(timedelta(milliseconds=6_000), timedelta(milliseconds=2_000))
    return window, copies


def _session(rows: str) -> tuple[Window, str]:
    new = "CASE WHEN t - lag(t) OVER (PARTITION BY k ORDER BY t) > 3000 THEN 1 ELSE 0 END"
    marked = f"SELECT *, {new} AS new FROM ({rows})"
    number = "sum(new) OVER (PARTITION BY k ORDER BY t RANGE UNBOUNDED PRECEDING)"
    return Session(timedelta(seconds=3)), f"SELECT *, {number} AS w FROM ({marked})"


def _global(rows: str) -> tuple[Window, str]:
    return Global(), f"SELECT *, 0 AS w FROM ({rows})"


WINDOWS: list[Callable[[str], tuple[Window, str]]] = [_tumbling, _hopping, _session, _global]
STEPS = [filtered, aggregated, best, distinct, united]


class Oracle:
    """DuckDB, which knows nothing of streams."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET threads TO 1")

    def answer(self, step: Step, rows: list[Row]) -> list[tuple[Any, ...]]:
        """The final rows, sorted."""
        source = pl.DataFrame(rows, schema=dict(TYPES)).rename({"at": "t"})
        self._connection.register("source", source.to_arrow())
        found = self._connection.execute(f"SELECT k, g, n FROM ({step.sql})").fetchall()
        return ordered(found)


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(value is None, value or 0) for value in row])
