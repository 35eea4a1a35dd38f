"""Files read as if they were topics: one partition a file, offsets that count its rows.

Parquet, CSV with a header, and JSON lines, told by how a file's name ends. A column that a file
does not have is null; one that it has besides is not read. The files stay as they are: one that
comes, goes or changes makes another topic of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from glob import glob
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from penstock.errors import SchemaError, StorageError, did_you_mean
from penstock.log.port import Bounds, Chunk, Log, ReadLimit
from penstock.log.record import DELETED_COLUMN, OFFSET_COLUMN, TIMESTAMP_COLUMN, TopicPartition
from penstock.log.topic import Topic

_FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_NANOSECONDS_A_MILLISECOND = 1_000_000


@dataclass(frozen=True)
class FileTopic:
    """The files that a pattern such as `data/*.parquet` names, and the columns to read."""

    name: str
    pattern: str
    schema: pa.Schema

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files in order of their names; a folder stands for all files in it."""
        pattern = Path(self.pattern)
        wanted = str(pattern / "*") if pattern.is_dir() else self.pattern
        # `Path.glob` takes no pattern that begins at the root.
        named = glob(wanted, recursive=True)  # noqa: PTH207
        found = sorted(path for path in named if Path(path).is_file())
        if not found:
            raise StorageError(
                "FILES_MISSING",
                f'no file is named "{self.pattern}"',
                hint="Give the path of a file or folder, or a pattern such as data/*.parquet.",
            )
        for path in found:
            _format_of(path)
        return tuple(found)

    def describe(self) -> Topic:
        """Describe it as a topic; its id changes with any of its files."""
        stats = [(path, *_version(path)) for path in self.files]
        known = hashlib.sha256(repr(stats).encode()).hexdigest()[:16]
        return Topic(self.name, len(self.files), self.schema, topic_id=known)

    def table(self, partition: int) -> pa.Table:
        """Give all rows of a file."""
        path = self.files[partition]
        with _coded(path):
            return _dataset(path, self.schema).to_table()

    def rows(self, partition: int) -> int:
        """Give the number of rows of a file."""
        path = self.files[partition]
        return _count(path, self.schema, _version(path))


def with_files(log: Log, topics: Iterable[FileTopic]) -> Log:
    """Give a log that has these files beside its own topics, to be read."""
    found = {topic.name: topic for topic in topics}
    return cast("Log", _WithFiles(log, found)) if found else log


class _WithFiles:
    """Reads files where a topic is one of them; everything else is the log's own business."""

    def __init__(self, log: Log, topics: Mapping[str, FileTopic]) -> None:
        self._log = log
        self._topics = topics
        self._cursors: dict[TopicPartition, _Cursor] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a log has
        return getattr(self._log, name)

    def topic(self, name: str) -> Topic:
        """Describe a topic."""
        return self._topics[name].describe() if name in self._topics else self._log.topic(name)

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """Give the bounds of whole topics."""
        asked = list(topics)
        found = self._log.snapshot([name for name in asked if name not in self._topics])
        for name in asked:
            held = self._topics.get(name)
            for partition in range(len(held.files) if held else 0):
                place = TopicPartition(name, partition)
                found[place] = Bounds(0, self._topics[name].rows(partition))
        return found

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on."""
        if topic not in self._topics:
            return self._log.read(topic, partition, offset, limit)
        files = self._topics[topic]
        place = TopicPartition(topic, partition)
        cursor = self._cursors.get(place)
        if cursor is None or not cursor.reaches(offset, limit.columns):
            path = files.files[partition]
            cursor = _Cursor(path, files.schema, limit.columns, offset)
            self._cursors[place] = cursor
        return cursor.read(offset, limit)

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Wait for the topics of the log: files have all their rows."""
        own = {place: at for place, at in positions.items() if place.topic not in self._topics}
        return self._log.wait(own, timeout)


class _Cursor:
    """Reads one file from a row on, piece by piece."""

    def __init__(
        self, path: str, schema: pa.Schema, columns: tuple[str, ...] | None, offset: int
    ) -> None:
        self._path = path
        self._asked = columns
        self._names = [name for name in columns or schema.names if name in schema.names]
        self._base, parts = _parts_from(path, schema, offset)
        self._batches = self._read(parts, schema)
        self._batch: pa.RecordBatch | None = None

    def reaches(self, offset: int, columns: tuple[str, ...] | None) -> bool:
        """Whether an offset lies where it reads or further on, in the same columns."""
        return offset >= self._base and columns == self._asked

    def read(self, offset: int, limit: ReadLimit) -> Chunk:
        """Give rows of one piece."""
        stop = limit.stop if limit.stop is not None else offset + (limit.records or 2**62)
        while self._batch is None or self._base + self._batch.num_rows <= offset:
            self._base += self._batch.num_rows if self._batch is not None else 0
            self._batch = next(self._batches, None)
            if self._batch is None:
                return Chunk(self._table(pa.table({}), 0, offset), offset)
        most = min(limit.records or 2**62, max(stop - offset, 0))
        rows = self._batch.slice(offset - self._base, most)
        return Chunk(
            self._table(pa.Table.from_batches([rows]), rows.num_rows, offset),
            offset + rows.num_rows,
        )

    def _read(self, parts: list[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for part in parts:
            with _coded(self._path):
                yield from part.to_batches(schema=schema, columns=self._names)

    def _table(self, rows: pa.Table, count: int, offset: int) -> pa.Table:
        """Add what the log says of each record; the columns are those asked for, in order."""
        # The rows of a file were taken when it was written.
        taken = _version(self._path)[1] // _NANOSECONDS_A_MILLISECOND
        system = {
            OFFSET_COLUMN: pa.array(range(offset, offset + count), pa.int64()),
            TIMESTAMP_COLUMN: pa.array([taken] * count, pa.int64()),
            DELETED_COLUMN: pa.nulls(count, pa.bool_()),
        }
        names = self._asked if self._asked is not None else (*system, *self._names)
        held = {name: rows.column(name) for name in rows.column_names}
        known = {**system, **held}
        return pa.table({name: known[name] for name in names if name in known})


def _parts_from(path: str, schema: pa.Schema, offset: int) -> tuple[int, list[Any]]:
    """Give the parts of a file from the one on that has a row, and the first row of it."""
    (whole,) = _dataset(path, schema).get_fragments()
    parts = whole.split_by_row_group() if _format_of(path) == "parquet" else [whole]
    base = 0
    for number, part in enumerate(parts[:-1]):
        rows = part.row_groups[0].num_rows
        if base + rows > offset:
            return base, parts[number:]
        base += rows
    return base, parts[-1:]


@lru_cache(maxsize=4096)
def _count(path: str, schema: pa.Schema, version: tuple[int, int]) -> int:
    """Count the rows of a file; `version` lets a changed file be counted anew."""
    del version
    with _coded(path):
        return int(_dataset(path, schema).count_rows())


@contextmanager
def _coded(path: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, OSError) as error:
        raise SchemaError(
            "FILE_UNREADABLE",
            f'file "{path}" does not have the rows that the program reads: {error}',
            hint="Correct the schema that is given for the files, or the file.",
        ) from error


def _dataset(path: str, schema: pa.Schema) -> Any:  # noqa: ANN401  # Arrow has no types
    import pyarrow.dataset as ds  # noqa: PLC0415  # loads pandas, and few programs read files

    return ds.dataset(path, format=_format_of(path), schema=schema)


def _format_of(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise StorageError(
            "FILES_FORMAT",
            f'file "{path}" is of no kind that can be read',
            hint=did_you_mean(suffix, _FORMATS)
            or f"Its name should end in one of: {', '.join(_FORMATS)}.",
        )
    return _FORMATS[suffix]


def _version(path: str) -> tuple[int, int]:
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


def columns_of_files(pattern: str) -> pa.Schema:
    """Give the columns that the first of some files has."""
    import pyarrow.dataset as ds  # noqa: PLC0415  # loads pandas, and few programs read files

    path = FileTopic("", pattern, pa.schema([])).files[0]
    with _coded(path):
        return ds.dataset(path, format=_format_of(path)).schema
