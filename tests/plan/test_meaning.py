"""Rules are tried on random programs: with and without them the same rows are written."""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.port import CONTROL, END_OF_TIME, START_OF_TIME, State, Time
from penstock.kernel.program import Program
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Expr
from penstock.model.measure import Measure
from penstock.model.physical import Physical, Settings
from penstock.model.relation import Relation
from penstock.model.stateless import (
    Apply,
    Expect,
    Filter,
    Named,
    Project,
    Rekey,
    Restamp,
    Union,
)
from penstock.model.top_n import TopN
from penstock.model.window import Tumbling
from penstock.plan.lower import lower
from penstock.plan.planner import plan
from penstock.plan.share import share
from penstock.schema.types import Kind
from tests.plan.programs import COLUMNS, MINUTE, a_stream, call, col, lit, program

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "user": st.sampled_from("abc"),
            "region": st.sampled_from(["x", "y", None]),
            "page": st.sampled_from(["/", "/cart", None]),
            "n": st.one_of(st.none(), st.integers(-3, 3)),
            "at": st.integers(0, 300_000),
        }
    ),
    min_size=1,
    max_size=12,
)


def numbers(relation: Relation) -> list[str]:
    return [f.name for f in relation.schema.fields if f.type.kind is Kind.INT64]


def conditions(relation: Relation) -> st.SearchStrategy[Expr]:
    """Truths about the rows of a relation, some of them constant."""
    values = st.integers(-2, 2).map(lit)
    sides = st.one_of(values, st.sampled_from([*map(col, numbers(relation)), lit(1)]))
    compared = st.builds(call, st.sampled_from(["gt", "le", "eq"]), sides, sides)
    truths = st.sampled_from([lit(value=True), lit(value=False)])

    def joined(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.builds(call, st.sampled_from(["and", "or"]), inner, inner)

    return st.recursive(st.one_of(compared, truths), joined, max_leaves=3)


@st.composite
def projections(draw: st.DrawFn, source: Relation) -> Relation:
    names = source.schema.names
    kept = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    columns = [Named(name, col(name)) for name in kept]
    for index, name in enumerate(draw(st.lists(st.sampled_from(numbers(source) or names)))[:2]):
        made: Expr = col(name)
        if name in numbers(source):
            made = Call("add", (made, call("multiply", lit(2), lit(3))))
        fresh = [f"made_{number}" for number in range(99) if f"made_{number}" not in names]
        columns.append(Named(fresh[index], made))
    return Project(source, tuple(columns))


@st.composite
def stateless(draw: st.DrawFn, source: Relation) -> Relation:
    names = source.schema.names
    match draw(st.integers(0, 6)):
        case 0 | 1:
            return draw(projections(source))
        case 2:
            return Rekey(source, (draw(st.sampled_from(names)),))
        case 3:
            return Expect(source, "e", draw(conditions(source)), "drop")
        case 4 if "at" in names:
            return Restamp(source, "at")
        case 5:
            return Apply(source, "same", lambda row: row, "map", source.schema)
        case _:
            return Filter(source, draw(conditions(source)))


@st.composite
def stateful(draw: st.DrawFn, source: Relation) -> Relation:
    names = source.schema.names
    keys = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
    match draw(st.integers(0, 2)):
        case 0:
            return Dedup(source, keys)
        case 1 if numbers(source):
            by = draw(st.sampled_from(numbers(source)))
            return TopN(source, tuple(key for key in keys if key != by), by, 2)
        case _:
            sums = [Measure("sum", "sum", (col(name),)) for name in numbers(source)[:1]]
            measures = (Measure("rows", "count"), *sums)
            taken = {"rows", "sum", "window_start", "window_end"}
            own = tuple(key for key in keys if key not in taken)
            window = draw(st.sampled_from([None, Tumbling(MINUTE)]))
            return Aggregate(source, own, measures, window)


@st.composite
def relations(draw: st.DrawFn) -> Relation:
    relation: Relation = a_stream(draw(st.sampled_from("pq")))
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.integers(0, 5))
        if kind == 0:
            relation = Union((relation, Filter(relation, draw(conditions(relation)))))
        else:
            relation = draw((stateful if kind == 1 else stateless)(relation))
    return relation


def written(physical: Physical, rows: list[dict[str, object]]) -> dict[str, list[str]]:
    """What one batch of all rows leads to, by output."""
    names = {field.name: pl.String() for field in COLUMNS.fields}
    types = names | {"n": pl.Int64(), "at": pl.Int64()}
    frame = pl.DataFrame(rows, schema=types).with_columns(
        pl.col("at").cast(pl.Datetime("ms", "UTC")),
        _weight=pl.lit(1, pl.Int32),
        _time=pl.col("at"),
        _taken=pl.col("at"),
    )
    machine = Program(physical)
    waiting: dict[tuple[str, int], list[pl.DataFrame]] = defaultdict(list)
    for scan in physical.scans:
        read = machine.read(scan.id, frame.select(*scan.columns, *CONTROL), START_OF_TIME)
        for parcel in read.parcels:
            waiting[parcel.target, parcel.bucket].append(parcel.frame)
    for keyed in physical.operators:
        for bucket in range(physical.settings.buckets):
            deltas = waiting.pop((keyed.id, bucket), [])
            worked = machine.work(keyed.id, State(), deltas, Time(END_OF_TIME, 0))
            for parcel in worked.parcels:
                waiting[parcel.target, parcel.bucket].append(parcel.frame)
    return {
        output.id: sorted(
            str(row)
            for part in waiting[output.id, -1]
            for row in part.select(*output.sink.relation.schema.names, "_weight", "_time").rows()
        )
        for output in physical.outputs
    }


def holds(found: list[Relation], rows: list[dict[str, object]], chosen: Settings) -> bool:
    plain = lower(share(program(*found)), chosen)
    return written(plan(program(*found), chosen), rows) == written(plain, rows)


PROGRAMS = st.lists(relations(), min_size=1, max_size=2)
SETTINGS = st.builds(Settings, buckets=st.integers(1, 3), preaggregate=st.booleans())


@settings(max_examples=25)
@given(PROGRAMS, ROWS, SETTINGS)
def test_rules_change_no_row_of_what_is_written(
    found: list[Relation], rows: list[dict[str, object]], chosen: Settings
) -> None:
    assert holds(found, rows, chosen)


@pytest.mark.slow
@settings(max_examples=250)
@given(PROGRAMS, ROWS, SETTINGS)
def test_rules_change_no_row_of_many_programs(
    found: list[Relation], rows: list[dict[str, object]], chosen: Settings
) -> None:
    assert holds(found, rows, chosen)


@pytest.mark.soak
@given(PROGRAMS, ROWS, SETTINGS)
def test_rules_change_no_row_of_very_many_programs(
    found: list[Relation], rows: list[dict[str, object]], chosen: Settings
) -> None:
    assert holds(found, rows, chosen)
