from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from penstock.kernel.codec import decode, encode
from penstock.kernel.columns import from_rows
from penstock.kernel.join import JoinOperator
from penstock.kernel.operators import joiner_of
from penstock.kernel.port import CONTROL, START_OF_TIME, Frame, Joiner, State, Step, Time
from penstock.model.join import Join, Pick
from penstock.model.join_bound import Bound, SameWindow, Whole
from penstock.model.physical import Keyed
from penstock.model.source import Stream
from penstock.model.window import Session, Tumbling
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
)
from tests.kernel.joins import JoinBench, a_join, ms, within

NEVER = Time(START_OF_TIME, 0)
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def weighed(rows: list[dict[str, Any]], schema: Schema, weight: int = 1) -> Frame:
    return from_rows(rows, schema).with_columns(
        pl.lit(weight, pl.Int32).alias("_weight"),
        pl.lit(5, pl.Int64).alias("_time"),
        pl.lit(6, pl.Int64).alias("_taken"),
    )


def stepped(operator: JoinOperator, left: Frame, right: Frame, state: State | None = None) -> Step:
    return operator.step(state or State(), (left, right), NEVER)


def test_a_join_is_run_by_its_keys_on_both_sides() -> None:
    left, right = Schema((Field("a", INT64),)), Schema((Field("b", INT32), Field("c", INT32)))
    relation = Join(
        Stream("l", left),
        Stream("r", right),
        (("a", "b"),),
        "inner",
        within(1, 1),
        (Pick("a", "a"),),
    )
    joiner: Joiner = joiner_of(Keyed("join-1", relation, 0, (), ms(0)))
    assert joiner.ports == (("a",), ("b",))
    rows = weighed([{"b": 1}], right)
    assert joiner.pack(rows, 0, 1) is rows


def test_keys_of_both_integer_types_are_equal_and_come_out_as_the_wider() -> None:
    left, right = Schema((Field("a", INT32),)), Schema((Field("b", INT64),))
    picks = (Pick("key", "a", "b"), Pick("b", None, "b"))
    relation = Join(
        Stream("l", left, changelog=True),
        Stream("r", right, changelog=True),
        (("a", "b"),),
        "full",
        Whole(),
        picks,
    )
    step = stepped(
        JoinOperator(relation),
        weighed([{"a": 7}, {"a": 8}], left),
        weighed([{"b": 7}, {"b": 2**40}], right),
    )
    assert step.output.schema == {"key": pl.Int64, "b": pl.Int64, **CONTROL, "_until": pl.Int64}
    assert sorted(step.output["key"].to_list()) == [7, 8, 2**40]


VALUES: list[tuple[Type, Any, Any]] = [
    (BOOLEAN, True, False),
    (FLOAT64, float("nan"), -0.5),
    (STRING, "a", ""),
    (BYTES, b"a", b""),
    (TIMESTAMP, NOW, None),
    (DATE, NOW.date(), None),
    (Type(Kind.DECIMAL, precision=10, scale=2), Decimal("1.10"), Decimal("-1.10")),
    (Type(Kind.ARRAY, item=INT64), [1, 2], []),
    (Type(Kind.MAP, item=INT64), {"a": 1}, {}),
    (Type(Kind.STRUCT, fields=(("x", INT64),)), {"x": 1}, {"x": None}),
]


@pytest.mark.parametrize(("kind", "one", "other"), VALUES, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize(
    "bound", [Whole(), within(1, 1), SameWindow(Tumbling(ms(10))), SameWindow(Session(ms(10)))]
)
def test_columns_of_all_types_are_held_given_and_taken_back(
    bound: Bound, kind: Type, one: object, other: object
) -> None:
    left = Schema((Field("k", STRING), Field("a", kind)))
    right = Schema((Field("k", STRING), Field("b", kind)))
    relation = Join(
        Stream("l", left, changelog=True),
        Stream("r", right, changelog=True),
        (("k", "k"),),
        "full",
        bound,
        (Pick("k", "k", "k"), Pick("a", "a"), Pick("b", None, "b")),
    )
    operator = JoinOperator(relation)
    rows = [{"k": "x", "a": one}, {"k": "x", "a": other}, {"k": "y", "a": one}]
    mine = weighed(rows, left)
    theirs = weighed([{"k": row["k"], "b": row["a"]} for row in rows[:2]], right)
    first = stepped(operator, mine, theirs)
    state = decode(encode(first.state, "f"), "f")
    assert {name: table.schema for name, table in state.tables.items()} == {
        name: table.schema for name, table in first.state.tables.items()
    }
    back = stepped(operator, weighed(rows, left, -1), theirs.clear(), state)
    last = stepped(operator, mine.clear(), theirs.with_columns(-pl.col("_weight")), back.state)
    assert last.state.tables == {}
    assert first.output.schema == last.output.schema
    weights = pl.concat([first.output, back.output, last.output])["_weight"]
    assert weights.sum() == 0
    assert len(weights) or isinstance(bound, SameWindow)


def test_a_column_of_either_side_is_that_of_the_row_that_is_there() -> None:
    bench = JoinBench(a_join("full", Whole(), changelog=True))
    bench.both([(1, None, 0)], [(2, None, 0)])
    assert [row[1:4] for row in bench.new()] == [(2, None, None), (1, None, None)]


def test_a_join_of_a_stream_with_itself_pairs_each_row_with_itself() -> None:
    bench = JoinBench(a_join("inner", within(1, 1)))
    rows = [(1, 1, 0), (1, 2, 1), (1, 3, 5)]
    bench.both(rows, rows)
    assert [row[2:4] for row in bench.new()] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]
