"""SELECT answered: from what the log holds now, or row by row as it comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from penstock.front.sql.asking import Asked
from penstock.front.sql.rows import GONE
from penstock.kernel.port import WEIGHT, Frame
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Settings
from penstock.plan.planner import plan
from penstock.sql.answer import Cells, Followed, Listed
from penstock.sql.evaluation import Evaluation
from penstock.sql.order import Sorting, sort_rows
from penstock.sql.readable import readable
from penstock.sql.records import require_topic

_PATIENCE = 0.1
_SETTINGS = Settings(buckets=1, parallelism=1)


def pull(asked: Asked, log: Log, order: Sequence[Sorting] = ()) -> Listed:
    """Answer from one instant of the log: of a table the rows that there are, of a stream all."""
    names = tuple(column.name for column in asked.columns)
    ends = _ends(asked, log)
    evaluation = _evaluation(asked, log, {at: start for at, (start, _) in ends.items()})
    frames = list(evaluation.read({at: end for at, (_, end) in ends.items()}))
    if asked.table:
        frame = evaluation.table(frames)
    else:
        frame = pl.concat([evaluation.empty(), *frames], how="diagonal_relaxed")
    rows = sort_rows(_cells(frame, names, gone=False), names, order)
    return Listed(names, tuple(rows[: asked.limit]), {at: end for at, (_, end) in ends.items()})


def push(asked: Asked, log: Log, *, from_beginning: bool) -> Followed:
    """Answer row by row: from the first record on, or from those that come from now on."""
    names = tuple(column.name for column in asked.columns)
    bounds = _ends(asked, log)
    place = 0 if from_beginning else 1
    tables = {source.topic for source in asked.reads if source.is_table}
    offsets = {
        # A table is looked up, whoever follows what is joined to it.
        at: bound[0 if len(asked.reads) > 1 and at.topic in tables else place]
        for at, bound in bounds.items()
    }
    evaluation = _evaluation(asked, log, offsets)
    return Followed(names, _followed(evaluation, asked, log, names))


def _followed(
    evaluation: Evaluation, asked: Asked, log: Log, names: Sequence[str]
) -> Iterator[Cells | None]:
    left = asked.limit
    while left is None or left > 0:
        ends = {at: end for at, (_, end) in _ends(asked, log).items()}
        for frame in (*evaluation.read(ends), *evaluation.tick()):
            for cells in _cells(frame, names, gone=True)[:left]:
                left = None if left is None else left - 1
                yield cells
            if left == 0:
                return
        yield None
        log.wait(evaluation.offsets, _PATIENCE)


def _evaluation(asked: Asked, log: Log, offsets: Mapping[TopicPartition, int]) -> Evaluation:
    return Evaluation(plan(readable(asked.plan), _SETTINGS), log, offsets)


def _ends(asked: Asked, log: Log) -> dict[TopicPartition, tuple[int, int]]:
    """Give the bounds of all partitions: those of tables first, so that joins find their rows."""
    for source in asked.reads:
        require_topic(log, source.topic)
    tables = {source.topic for source in asked.reads if source.is_table}
    bounds = log.snapshot(sorted({source.topic for source in asked.reads}))
    ordered = sorted(bounds, key=lambda at: (at.topic not in tables, at))
    return {TopicPartition(*at): (bounds[at].start, bounds[at].end) for at in ordered}


def _cells(frame: Frame, names: Sequence[str], *, gone: bool) -> list[Cells]:
    """Give the rows that were added; a deletion is shown only to who follows changes."""
    if WEIGHT in frame.columns:
        frame = frame.filter(pl.col(WEIGHT) > 0)
    if GONE in frame.columns and not gone:
        frame = frame.filter(~pl.col(GONE).fill_null(value=False))
    return frame.select(names).rows()
