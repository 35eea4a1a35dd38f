from __future__ import annotations

from typing import Any

import polars as pl

from penstock.kernel.port import CONTROL, UNTIL, State, Time
from penstock.kernel.settle import SettleOperator
from penstock.model.settle import Settle, Told
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT64, STRING

COLUMNS = Schema(
    (Field("k", STRING), Field("v", INT64), Field("at", INT64), Field("there", BOOLEAN))
)


def told(changes: list[tuple[Any, ...]], how: Told) -> list[tuple[Any, ...]]:
    """Settle changes of (k, v, there, weight, time, until)."""
    relation = Settle(Stream("t", COLUMNS), ("k",), told=how)
    frame = pl.DataFrame(
        [
            {
                "k": k,
                "v": v,
                "at": None,
                "there": there,
                "_weight": weight,
                "_time": time,
                "_taken": time,
                UNTIL: until,
            }
            for k, v, there, weight, time, until in changes
        ],
        schema={
            "k": pl.String,
            "v": pl.Int64,
            "at": pl.Int64,
            "there": pl.Boolean,
            **CONTROL,
            UNTIL: pl.Int64,
        },
    )
    step = SettleOperator(relation).step(State(), frame, Time())
    assert step.output["_weight"].to_list() == [1] * step.output.height
    assert tuple(name for name in relation.schema.names if name in step.output.columns)
    return step.output.select("k", "v", "at", "gone", "_time").rows()


HOW = Told("gone", "at")


def test_a_new_row_stands_for_the_old_one() -> None:
    changes = [("a", 1, True, -1, 5, 7), ("a", 2, True, 1, 7, None)]
    assert told(changes, HOW) == [("a", 2, 7, False, 7)]


def test_a_key_without_a_row_is_told_as_gone_when_it_ended() -> None:
    assert told([("a", 1, True, -1, 5, 7)], HOW) == [("a", None, 7, True, 7)]
    assert told([("a", 1, True, -1, 9, 7)], HOW) == [("a", None, 7, True, 7)]
    assert told([("a", 1, True, -1, 9, None)], HOW) == [("a", None, 9, True, 9)]


def test_columns_that_are_kept_tell_what_is_gone() -> None:
    kept = Told("gone", "at", kept=("v",))
    assert told([("a", 1, True, -1, 5, 7)], kept) == [("a", 1, 7, True, 7)]


def test_a_row_that_is_not_there_is_gone_unless_it_is_the_first() -> None:
    how = Told("gone", "at", there="there")
    assert told([("a", 1, False, 1, 5, None)], how) == []
    changes = [("a", 1, False, -1, 5, 6), ("a", 2, False, 1, 6, None)]
    assert told(changes, how) == [("a", None, 6, True, 6)]
    changes = [("a", 1, False, -1, 5, 6), ("a", 2, True, 1, 6, None)]
    assert told(changes, how) == [("a", 2, 6, False, 6)]


def test_nothing_is_taken_back_of_what_is_told() -> None:
    source = Stream("t", COLUMNS)
    assert not Settle(source, ("k",), told=HOW).retracts
    assert Settle(source, ("k",), told=HOW).schema.names == (*COLUMNS.names, "gone")
    assert Settle(source, ("k",)).schema is COLUMNS
    assert Settle(source, ("k",), told=HOW).reads == ("k", "at")
