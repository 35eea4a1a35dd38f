"""What a batch's changes leave of each key of a table: its new row, or that it is gone."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.port import TIME, UNTIL, WEIGHT, Counts, Frame, State, Step, Time
from penstock.model.settle import Settle, Told

_ALL = "_all"
_HAD = "_had"
_NET = "_net"
_PLACE = "_place"
_SAME = "_rows_of_key"


def settle(changes: Frame, keys: Sequence[str], columns: Sequence[str]) -> Frame:
    """Give one row a key that changed: weight 1 for its new row, -1 where it has none.

    Rows stand in the order in which their last change came. Without keys all are of one.
    """
    if changes.is_empty():
        return changes
    if not keys:
        one = changes.with_columns(pl.lit(0).alias(_ALL))
        return settle(one, (_ALL,), columns).drop(_ALL)
    placed = changes.with_row_index(_PLACE).with_columns(pl.len().over(keys).alias(_SAME))
    alone = placed.filter(pl.col(_SAME) == 1)
    several = placed.filter(pl.col(_SAME) > 1)
    if several.is_empty():
        return changes
    net = pl.col(WEIGHT).cast(pl.Int64).sum().over(columns)
    several = several.with_columns(net.alias(_NET)).filter(pl.col(_NET) != 0)
    # The rows that are left, the new one of each key last.
    last = several.sort(pl.col(_NET) > 0, _PLACE, maintain_order=True).unique(
        subset=list(keys), keep="last", maintain_order=True
    )
    weight = pl.when(pl.col(_NET) > 0).then(1).otherwise(-1).cast(pl.Int32).alias(WEIGHT)
    settled = last.with_columns(weight).drop(_NET)
    return pl.concat([alone, settled]).sort(_PLACE).drop(_PLACE, _SAME)


class SettleOperator:
    """Brings the changes of each key together and settles them; it remembers nothing."""

    def __init__(self, relation: Settle) -> None:
        self._relation = relation

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the table."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: others of their keys may come from elsewhere."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Settle the changes of a batch."""
        given = self._settled(delta)
        taken = delta.height
        counts = Counts(taken=taken, passed=taken, given=given.height)
        return Step(State(state.tables, time), given, counts=counts)

    def _settled(self, delta: Frame) -> Frame:
        relation = self._relation
        columns = relation.source.schema.names
        if relation.told is None:
            return settle(delta, self.keys, columns)
        had = (pl.col(WEIGHT) < 0).any().over(self.keys).alias(_HAD)
        changes = settle(delta.with_columns(had), self.keys, columns)
        return _told(changes, relation, relation.told)


def _told(changes: Frame, relation: Settle, told: Told) -> Frame:
    """Let columns say which rows are gone, and when."""
    gone = pl.col(WEIGHT) < 0
    if told.there is not None:
        missing = ~pl.col(told.there).fill_null(value=False)
        changes = changes.filter(gone | ~missing | pl.col(_HAD))
        gone = gone | missing
    time = pl.col(TIME)
    if UNTIL in changes.columns:
        ended = (pl.col(WEIGHT) < 0) & pl.col(UNTIL).is_not_null()
        time = pl.when(ended).then(UNTIL).otherwise(TIME)
    changes = changes.with_columns(gone.alias(told.gone), time.alias(TIME))
    fields = [field for field in relation.schema.fields if field.name not in relation.keys]
    emptied = [
        pl.when(pl.col(told.gone)).then(None).otherwise(pl.col(field.name)).alias(field.name)
        for field in fields
        if field.name not in (told.gone, told.time, *told.kept)
    ]
    known = dtype_of(relation.schema.field(told.time).type)
    return changes.with_columns(
        *emptied, pl.col(TIME).cast(known).alias(told.time), pl.lit(1, pl.Int32).alias(WEIGHT)
    ).drop(_HAD, UNTIL, strict=False)
