"""SELECT answered: from what the log holds now, or row by row as it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from penstock.front.sql.asking import Asked
from penstock.front.sql.pull.tree import Pulled
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import SqlSource
from penstock.front.sql.typed_format import is_typed
from penstock.kernel.port import WEIGHT, Frame
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Settings
from penstock.plan.planner import plan
from penstock.spark.inputs import input_log
from penstock.spark.program_start import start_offsets
from penstock.sql.answer import Cells, Followed, Listed
from penstock.sql.evaluation import Evaluation
from penstock.sql.kept_tables import KeptTables
from penstock.sql.pulling import answered, scanned
from penstock.sql.records import require_topic
from penstock.sql.topics import ensure_side_topics

_PATIENCE = 0.1
_SETTINGS = Settings(buckets=1, parallelism=1)


def pull(asked: Asked | Pulled, log: Log, tables: KeptTables | None = None) -> Listed:
    """Answer from one instant of the log: of a table the rows that there are, of a stream all.

    What `tables` keep at hand is read only as far as it has changed.
    """
    names = tuple(column.name for column in asked.columns)
    bounds = _bounds(asked.reads, log)
    if isinstance(asked, Pulled):
        frame = answered(asked, log, bounds, tables)
    elif asked.steps is not None:
        frame = answered(asked.steps, log, bounds, tables)
    else:
        frame = _in_order(scanned(asked.plan, log, bounds, table=asked.table), asked)
    offsets = {at: end for at, (_, end) in bounds.items()}
    return Listed(names, tuple(_cells(frame, names, gone=False)), offsets)


def _in_order(frame: Frame, asked: Asked) -> Frame:
    """Give the first rows of those there are; a table's come in the order of its keys."""
    if GONE in frame.columns:
        frame = frame.filter(~pl.col(GONE).fill_null(value=False))
    if asked.order:
        frame = frame.sort(asked.order, maintain_order=True)
    return frame if asked.limit is None else frame.head(asked.limit)


def push(asked: Asked, log: Log) -> Followed:
    """Answer row by row, from where the question begins to read."""
    names = tuple(column.name for column in asked.columns)
    _bounds(asked.reads, log)
    physical = plan(asked.plan, _SETTINGS)
    log = input_log(log, physical)
    evaluation = Evaluation(physical, log, start_offsets(physical, log))
    keys = tuple(place for place, column in enumerate(asked.columns) if column.role == "key")
    rows = _followed(evaluation, asked, log, names)
    return Followed(names, rows, keys if asked.table else (), evaluation.offsets)


def _followed(
    evaluation: Evaluation, asked: Asked, log: Log, names: Sequence[str]
) -> Iterator[Cells | None]:
    left = asked.limit
    while left is None or left > 0:
        ends = {at: end for at, (_, end) in _bounds(asked.reads, log).items()}
        ends.update(_file_ends(evaluation, log))
        for frame in (*evaluation.read(ends), *evaluation.tick()):
            for cells in _cells(frame, names, gone=True)[:left]:
                left = None if left is None else left - 1
                yield cells
            if left == 0:
                return
        yield None
        log.wait(evaluation.offsets, _PATIENCE)


def _file_ends(evaluation: Evaluation, log: Log) -> dict[TopicPartition, int]:
    scans = evaluation.physical.scans
    files = [scan.stream.topic for scan in scans if scan.stream.files is not None]
    return {at: bound.end for at, bound in log.snapshot(files).items()} if files else {}


def _bounds(reads: Sequence[SqlSource], log: Log) -> dict[TopicPartition, tuple[int, int]]:
    """Give the bounds of all partitions: those of tables first, so that joins find their rows."""
    ensure_side_topics(log, reads)
    for source in reads:
        if not source.side:
            require_topic(log, source.topic, typed=is_typed(source))
    tables = {source.topic for source in reads if source.is_table}
    bounds = log.snapshot(sorted({source.topic for source in reads}))
    ordered = sorted(bounds, key=lambda at: (at.topic not in tables, at))
    return {TopicPartition(*at): (bounds[at].start, bounds[at].end) for at in ordered}


def _cells(frame: Frame, names: Sequence[str], *, gone: bool) -> list[Cells]:
    """Give the rows that were added; a deletion is shown only to who follows changes."""
    if WEIGHT in frame.columns:
        frame = frame.filter(pl.col(WEIGHT) > 0)
    if GONE in frame.columns and not gone:
        frame = frame.filter(~pl.col(GONE).fill_null(value=False))
    return frame.select(names).rows()
