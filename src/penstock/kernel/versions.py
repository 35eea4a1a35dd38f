"""The history of a table as rows: what was valid, and from when to when."""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.history import History, Turn
from penstock.kernel.join_result import net
from penstock.kernel.letter import REASON
from penstock.kernel.look_up import ENDS
from penstock.kernel.multiset import ORDER
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    TIME,
    WEIGHT,
    Counts,
    Frame,
    State,
    Step,
    Time,
)
from penstock.model.versions import VALID_FROM, VALID_TO, Versions

_TABLE = "versions"
_LATE = "behind the watermark: the version it would have shortened is final"
_MILLISECOND = timedelta(milliseconds=1)


class VersionsOperator:
    """Gives each version of a key's row, and again where its end becomes another one."""

    def __init__(self, relation: Versions, keep_late: int = 0) -> None:
        self._relation = relation
        self._history = History(relation.source, relation.keys)
        self._columns = relation.source.schema.names
        self._keep = min(max(relation.keep // _MILLISECOND, keep_late), END_OF_TIME)
        self._none = pl.DataFrame(schema={**frame_schema(relation.schema), **CONTROL})

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the table."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: each of them is a version."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Put the rows of a batch in their place, then forget what the watermark made final."""
        held = state.tables.get(_TABLE, self._history.empty)
        rows = delta.select(*self._columns, *CONTROL).drop_nulls(TIME)
        output, late, whole = self._none, rows.clear(), held
        if rows.height:
            turn = self._history.taken(held, rows)
            old = self._late(turn, state.time.watermark - self._keep)
            late = turn.after.filter(old).select(*self._columns, *CONTROL)
            output, whole = self._changes(turn, old), turn.whole
        kept = self._history.kept(whole, time.watermark - self._keep)
        refused = late.with_columns(pl.lit(_LATE).alias(REASON))
        counts = Counts(
            taken=delta.height,
            passed=rows.height - late.height,
            filtered=delta.height - rows.height,
            late=late.height,
            given=output.height,
        )
        return Step(
            State({_TABLE: kept} if kept.height else {}, time),
            output,
            late=refused if late.height else None,
            counts=counts,
        )

    def _late(self, turn: Turn, limit: int) -> pl.Series:
        past = pl.col(ENDS).is_not_null() & (pl.col(ENDS) <= limit)
        return turn.after.select((pl.col(ORDER) >= turn.first_new) & past).to_series()

    def _changes(self, turn: Turn, old: pl.Series) -> Frame:
        weight = pl.col(WEIGHT).cast(pl.Int64)
        gone = self._shown(turn.before).with_columns(-weight)
        come = self._shown(turn.after.filter(~old)).with_columns(weight)
        return net(pl.concat([gone, come]))

    def _shown(self, versions: Frame) -> Frame:
        moment = pl.Datetime("ms", "UTC")
        bounds = (
            pl.col(TIME).cast(moment).alias(VALID_FROM),
            pl.col(ENDS).cast(moment).alias(VALID_TO),
        )
        there = versions.filter(pl.col(WEIGHT) > 0)
        return there.select(*self._columns, *bounds, *CONTROL)
