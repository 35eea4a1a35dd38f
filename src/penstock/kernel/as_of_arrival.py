"""A stream looks rows up in a table as it is known when they come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import polars as pl

from penstock.kernel.answer import Answers
from penstock.kernel.columns import frame_schema
from penstock.kernel.given import Given
from penstock.kernel.look_up import LookUp
from penstock.kernel.multiset import ORDER, numbered, touched
from penstock.kernel.port import (
    CONTROL,
    START_OF_TIME,
    TAKEN,
    WEIGHT,
    Counts,
    Frame,
    State,
    Step,
    Time,
)
from penstock.kernel.settle import settle
from penstock.model.join import Join
from penstock.model.physical import Stateful
from penstock.model.relation import Relation

_TABLE = "table"
_GIVEN = "given"


class ArrivalLookUp:
    """Holds one row a key of the table; what left rows were answered with where they go again."""

    def __init__(self, relation: Join) -> None:
        self._relation = relation
        self._left = relation.left.schema.names
        self._right = relation.right.schema.names
        self._retracts = relation.left.retracts
        self._settles = relation.right.retracts
        self._in_order = not self._settles and all(map(_taken_is_known, relation.inputs))
        self._answers = Answers(relation)
        self._given = Given(relation, self._answers)
        self._look_up = LookUp(relation, TAKEN)
        self._empty = pl.DataFrame(
            schema={ORDER: pl.Int64(), **frame_schema(relation.right.schema), **CONTROL}
        )

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The keys of the left rows and those of the table's."""
        return self._relation.left_keys, self._relation.right_keys

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: each row of the table may be asked for by one of the left."""
        return rows

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the rows of both inputs; neither clock nor watermark has an effect."""
        left, right = deltas
        if left.is_empty() and right.is_empty():
            return Step(State(state.tables, time), self._answers.none)
        left = left.select(*self._left, *CONTROL)
        held = state.tables.get(_TABLE, self._empty)
        changes = self._changes(right)
        table = self._changed(held, changes)
        seen, places = self._met(left, held, changes, table)
        tables = {_TABLE: table} if table.height else {}
        if self._retracts:
            given = state.tables.get(_GIVEN, self._given.empty)
            given, output = self._given.taken(given, self._given.beside(left, seen, places))
            tables |= {_GIVEN: given} if given.height else {}
        else:
            output = self._answers.rows(left, seen, places)
        filtered = 0 if self._retracts else left.height - output.height
        filtered += right.height - changes.height if not self._settles else 0
        taken = left.height + right.height
        counts = Counts(
            taken=taken, passed=taken - filtered, filtered=filtered, given=output.height
        )
        return Step(State(tables, time), output, counts=counts)

    def _changes(self, right: Frame) -> Frame:
        """Give the table's rows that have a key, in the order in which they count."""
        missing = reduce(or_, (pl.col(key).is_null() for key in self._relation.right_keys))
        rows = right.select(*self._right, *CONTROL).filter(~missing)
        if self._settles:
            return settle(rows, self._relation.right_keys, self._right)
        return rows.sort(TAKEN, maintain_order=True) if self._in_order else rows

    def _changed(self, held: Frame, changes: Frame) -> Frame:
        """Give the table after its changes: the last of each key counts."""
        if changes.is_empty():
            return held
        keys = self._relation.right_keys
        _, others = touched(held, changes, keys)
        last = numbered(changes, held).unique(subset=keys, keep="last", maintain_order=True)
        come = last.filter(pl.col(WEIGHT) > 0).select(held.columns)
        return pl.concat([others, come])

    def _met(
        self, left: Frame, held: Frame, changes: Frame, table: Frame
    ) -> tuple[Frame, pl.Series]:
        """Give the rows of the table that are seen, and the place of that which each row meets."""
        seen, single = table, True
        if self._in_order and not changes.is_empty() and not left.is_empty():
            first, last = changes[TAKEN][0], changes[TAKEN][-1]
            if first > left[TAKEN].max():
                seen = held
            elif last > left[TAKEN].min():
                seen, single = self._one_by_one(held, changes), False
        if single:
            # Whatever the clock said when a row was taken: it is there.
            seen = seen.with_columns(pl.lit(START_OF_TIME, pl.Int64).alias(TAKEN))
        places = self._look_up.places(left, seen, single=single)
        return seen, self._answers.fulfilling(left, seen, places)

    def _one_by_one(self, held: Frame, changes: Frame) -> Frame:
        """Give what was there before and each row that came, from when on it was there."""
        before = held.with_columns(pl.lit(START_OF_TIME, pl.Int64).alias(TAKEN)).drop(ORDER)
        both = pl.concat([before, changes.select(before.columns)])
        keys = [*self._relation.right_keys, TAKEN]
        return both.unique(subset=keys, keep="last", maintain_order=True)


def _taken_is_known(relation: Relation) -> bool:
    """Whether rows still say when the log took them: what operators give does not."""
    return not any(isinstance(step, Stateful) for step in relation.walk())
