"""Where the results of Bytewax go: files in one folder, each of one worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import orjson  # type: ignore[import-not-found,unused-ignore]  # of another Python
import pyarrow as pa
import pyarrow.parquet as pq
from bytewax.outputs import (  # type: ignore[import-not-found]  # of another Python
    DynamicSink,
    StatelessSinkPartition,
)

from bench.nexmark.peers.lines import Outcome

Part: TypeAlias = Callable[[Path, int, Outcome], Any]
"""What writes the results of one worker to a folder, and counts them."""


class JsonLines(StatelessSinkPartition):  # type: ignore[misc]  # of another Python
    """Rows as lines of JSON, with the system once a batch of them came."""

    def __init__(self, folder: Path, worker: int, outcome: Outcome) -> None:
        # A start has a file of its own: the last line of one that was killed may be half a line,
        # whose row comes again.
        self._file = (folder / f"{worker}-{time.time_ns()}.jsonl").open("xb", buffering=0)
        self._outcome = outcome

    def write_batch(self, items: list[dict[str, Any]]) -> None:
        """Write some rows."""
        self._file.write(b"".join(orjson.dumps(i, option=orjson.OPT_APPEND_NEWLINE) for i in items))
        self._outcome.saw(len(items))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ParquetFiles(StatelessSinkPartition):  # type: ignore[misc]  # of another Python
    """Tables of Arrow as Parquet files, not compressed: one for each batch of them."""

    def __init__(self, folder: Path, worker: int, outcome: Outcome) -> None:
        self._folder, self._worker, self._outcome = folder, worker, outcome
        self._numbers = count()

    def write_batch(self, items: list[pa.Table]) -> None:
        """Write some tables."""
        rows = pa.concat_tables(items)
        if rows.num_rows:
            path = self._folder / f"{self._worker}-{next(self._numbers):06}.parquet"
            pq.write_table(rows, path, compression="none")
        self._outcome.saw(rows.num_rows)


@dataclass(frozen=True, slots=True)
class Files(DynamicSink):  # type: ignore[misc]  # of another Python
    """Each worker writes what it has, wherever that came from."""

    folder: Path
    part: Part
    outcome: Outcome

    def build(self, _step_id: str, worker_index: int, _worker_count: int) -> Any:  # noqa: ANN401  # of another Python
        """Give what writes the results of one worker."""
        return self.part(self.folder, worker_index, self.outcome)


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """Give the rows that were written as lines, those of a worker in their order."""
    return [
        orjson.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]


def table_in(folder: Path) -> pa.Table:
    """Give the rows that were written as tables, those of a worker in their order."""
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])
