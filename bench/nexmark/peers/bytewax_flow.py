"""How a dataflow of Bytewax reads Parquet files as Arrow tables, keeps its state, and ends."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from bytewax.dataflow import Dataflow  # type: ignore[import-not-found]  # of another Python
from bytewax.inputs import (  # type: ignore[import-not-found]  # of another Python
    FixedPartitionedSource,
    StatefulSourcePartition,
)
from bytewax.recovery import (  # type: ignore[import-not-found]  # of another Python
    RecoveryConfig,
    init_db_dir,
)
from bytewax.testing import cluster_main  # type: ignore[import-not-found]  # of another Python

from bench.nexmark.peers.bytewax_results import Files, Part
from bench.nexmark.peers.lines import Outcome

WORKERS = 2
BUCKETS = 4
_EPOCH = timedelta(seconds=10)

Stream: TypeAlias = Any
Table: TypeAlias = pa.Table
Step: TypeAlias = Callable[[Table], Table]
Piece: TypeAlias = tuple[object, int, Table]
"""What some rows are of, the latest time among those they were read with, and the rows."""


class _FilesInTurn(StatefulSourcePartition):  # type: ignore[misc]  # of another Python
    """The rows of some files, in order, in tables of at most so many rows."""

    def __init__(self, paths: list[Path], columns: list[str], batch: int, taken: int) -> None:
        self._paths, self._columns, self._batch = paths, columns, batch
        self._taken = taken

    def next_batch(self) -> list[Table]:
        if self._taken >= len(self._paths):
            raise StopIteration
        rows = pq.read_table(self._paths[self._taken], columns=self._columns)
        self._taken += 1
        rows = plain_times(rows)
        return [rows.slice(at, self._batch) for at in range(0, rows.num_rows, self._batch)]

    def snapshot(self) -> int:
        return self._taken


@dataclass(frozen=True, slots=True)
class _Files(FixedPartitionedSource):  # type: ignore[misc]  # of another Python
    paths: list[Path]
    columns: list[str]
    batch: int
    parts: int

    def list_parts(self) -> list[str]:
        return [str(part) for part in range(self.parts)]

    def build_part(self, _step_id: str, for_part: str, resume_state: int | None) -> _FilesInTurn:
        mine = self.paths[int(for_part) :: self.parts]
        return _FilesInTurn(mine, self.columns, self.batch, resume_state or 0)


@dataclass(slots=True)
class Flow:
    """A dataflow in the making, over the events of one folder."""

    events: Path
    batch: int
    dataflow: Any = field(default_factory=lambda: Dataflow("nexmark"))

    def read(self, kind: str, columns: str, *, in_order: bool = False) -> Stream:
        """Read one kind of events; all by one worker where their order must be kept."""
        paths = sorted((self.events / kind).glob("*.parquet"))
        parts = 1 if in_order else WORKERS
        source = _Files(paths, columns.split(), self.batch, parts)
        return op.input(kind, self.dataflow, source)


def run(flow: Flow, results: Stream, folder: Path, part: Part) -> Outcome:
    """Run a dataflow to its end with recovery on, its results in a folder; say what it took."""
    with tempfile.TemporaryDirectory(prefix="bytewax-") as store:
        init_db_dir(Path(store), WORKERS)
        outcome = Outcome()
        op.output("results", results, Files(folder, part, outcome))
        cluster_main(
            flow.dataflow,
            [],
            0,
            worker_count_per_proc=WORKERS,
            epoch_interval=_EPOCH,
            recovery_config=RecoveryConfig(store),
        )
        outcome.ended()
    return outcome


def step(name: str, stream: Stream, work: Step) -> Stream:
    """Make another table of each."""
    return op.map(name, stream, work)


def spread(name: str, stream: Stream, key: str, tag: object = None) -> Stream:
    """Send the rows of a key to one place; each piece says what it is of, and how far time is."""

    def pieces(rows: Table) -> Iterable[tuple[str, Piece]]:
        bucket = pc.bit_wise_and(_numbers(rows[key]), BUCKETS - 1)
        latest = _latest(rows)
        for number in range(BUCKETS):
            yield str(number), (tag, latest, rows.filter(pc.equal(bucket, number)))

    return op.flat_map(name, stream, pieces)


def gather(name: str, stream: Stream, tag: object = None) -> Stream:
    """Send all rows to one place."""

    def piece(rows: Table) -> tuple[str, Piece]:
        return "all", (tag, _latest(rows), rows)

    return op.map(name, stream, piece)


def fold(name: str, stream: Stream, logic: Callable[[Any], Any]) -> Stream:
    """Keep state in each place; what it gives are tables again."""
    return op.map(f"{name}-values", op.stateful_batch(name, stream, logic), lambda item: item[1])


def plain_times(rows: Table) -> Table:
    """Times as milliseconds: a view of the same memory."""
    for place, column in enumerate(rows.schema):
        if pa.types.is_timestamp(column.type):
            rows = rows.set_column(place, column.name, rows[column.name].cast(pa.int64()))
    return rows


def _latest(rows: Table) -> int:
    if "date_time" not in rows.column_names or rows.num_rows == 0:
        return 0
    latest: int = pc.max(rows["date_time"]).as_py()
    return latest


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a number for each value, the same for the same words in every process."""
    if not pa.types.is_string(column.type):
        return column
    coded = column.combine_chunks().dictionary_encode()
    of_words = pa.array([crc32(word.encode()) for word in coded.dictionary.to_pylist()])
    return of_words.take(coded.indices)
