"""Tables kept at hand: read once, and from then on only as far as they have changed.

A question by key then looks at a frame in memory, which takes milliseconds, and not at a history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from penstock.front.sql.pull.tree import KeptTable
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import ROW_OFFSET, ROW_PARTITION, SqlSource
from penstock.kernel.port import Frame
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Settings
from penstock.plan.planner import plan
from penstock.sql.evaluation import Evaluation

Bounds = Mapping[TopicPartition, tuple[int, int]]
_SETTINGS = Settings(buckets=1, parallelism=1)
_MOST_TABLES = 16
_FEW_ROWS = 20_000


@dataclass(slots=True)
class _Table:
    """The last row of each key: `base` of most keys, and `tails` of what came later."""

    evaluation: Evaluation
    starts: dict[TopicPartition, int]
    base: Frame
    tails: list[Frame] = field(default_factory=list)

    def advance(self, bounds: Bounds, keys: Sequence[str]) -> None:
        """Read what came since; forget what the log no longer has."""
        for frame in self.evaluation.read({at: end for at, (_, end) in bounds.items()}):
            self.tails.append(frame.select(self.base.columns))
        starts = {at: start for at, (start, _) in bounds.items()}
        if starts != self.starts:
            gone = pl.any_horizontal(
                (pl.col(ROW_PARTITION) == at.partition) & (pl.col(ROW_OFFSET) < start)
                for at, start in starts.items()
            )
            self.base = self.base.filter(~gone)
            self.tails = [tail.filter(~gone) for tail in self.tails]
            self.starts = starts
        if sum(tail.height for tail in self.tails) > max(_FEW_ROWS, self.base.height // 4):
            self.base = _latest([self.base, *self.tails], keys)
            self.tails = []


class KeptTables:
    """The tables that questions were asked of, each as far as it was read."""

    def __init__(self) -> None:
        self._tables: dict[tuple[SqlSource, str], _Table] = {}

    def rows(
        self,
        source: SqlSource,
        kept: KeptTable,
        log: Log,
        bounds: Bounds,
        conditions: Sequence[pl.Expr] = (),
    ) -> Frame:
        """Give the rows of a table up to some ends, of those keys for which conditions hold."""
        table = self._table(source, kept, log, bounds)
        table.advance(bounds, kept.keys)
        names = dict(kept.names)
        keys = [new for new, old in names.items() if old in kept.keys]
        columns = [pl.col(old).alias(new) for new, old in names.items()]
        parts = [
            part.lazy().select(*columns, pl.col(GONE)).filter(*conditions)
            for part in (table.base, *table.tails)
        ]
        found = pl.concat(pl.collect_all(parts))
        if table.tails:
            found = found.unique(subset=keys, keep="last", maintain_order=True)
        return found.filter(~pl.col(GONE)).drop(GONE)

    def _table(self, source: SqlSource, kept: KeptTable, log: Log, bounds: Bounds) -> _Table:
        topic = log.topic(source.topic).topic_id
        found = self._tables.pop((source, topic), None)
        ahead = found is not None and any(
            found.evaluation.offsets.get(at, start) > end for at, (start, end) in bounds.items()
        )
        if found is None or ahead:
            starts = {at: start for at, (start, _) in bounds.items()}
            evaluation = Evaluation(plan(kept.records, _SETTINGS), log, starts)
            columns = [*evaluation.physical.outputs[0].sink.relation.schema.names]
            found = _Table(evaluation, starts, evaluation.empty().select(columns))
        # The one that was asked last goes to the end; the first has waited longest.
        self._tables[source, topic] = found
        while len(self._tables) > _MOST_TABLES:
            self._tables.pop(next(iter(self._tables)))
        return found


def _latest(frames: Sequence[Frame], keys: Sequence[str]) -> Frame:
    whole = pl.concat(frames)
    return whole.unique(subset=list(keys), keep="last", maintain_order=True).filter(~pl.col(GONE))
