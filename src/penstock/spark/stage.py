"""Rows of one task, written aside: nobody sees them until the batch commits.

Where the log can say how it would store them, they are written like that: who commits only
copies them. Else they are streams of Arrow.

A staged file is never synced: a batch that a power cut takes away was not committed, so
Spark runs it again. It is removed soon after it is written and mostly never reaches the disk.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import WriterCommitMessage

from penstock.errors import StorageError
from penstock.log.port import Log
from penstock.log.prepared import Prepared, PreparedPart, PreparingLog
from penstock.spark.route import Routed

STAGING = "staging"
_FLUSH_BYTES = 32 * 1024 * 1024
_APPEND_BYTES = 8 * 1024 * 1024
_FRAME_BYTES = 1024 * 1024
FOR_STORE = "store:"
"""What no topic's name begins with: rows for a table in a store."""


class Piece(NamedTuple):
    """Where in a staged file the rows of one partition lie."""

    topic: str
    partition: int
    position: int
    length: int
    records: int = 0
    form: tuple[int, ...] = ()
    """What a log knows of rows that it has prepared; nothing where they are a stream of Arrow."""
    topic_id: str = ""


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """What one task has written, and for which run of which query."""

    owner: str
    task: int
    file: str
    pieces: tuple[Piece, ...]


def stage(log: Log, home: str, owner: str, task: int, routed: Iterable[Routed]) -> Staged:
    """Write the rows of a task into a file of its own; without rows there is no file."""
    folder = Path(home) / STAGING / owner
    path = folder / f"{task}-{uuid4().hex}.arrows"
    pieces: list[Piece] = []
    with contextlib.ExitStack() as stack:
        file: pa.NativeFile = None
        for topic, partition, batches in _gathered(routed):
            if file is None:
                file = stack.enter_context(_created(path))
            if isinstance(log, PreparingLog) and not topic.startswith(FOR_STORE):
                pieces += _prepared(log, file, topic, partition, batches)
            else:
                pieces.append(_streamed(file, topic, partition, batches))
    return Staged(owner, task, str(path) if pieces else "", tuple(pieces))


def staged_rows(
    messages: Iterable[Staged],
) -> Iterator[tuple[str, int, pa.Table | Prepared]]:
    """Give the rows to append, by topic and partition, in the order of the tasks."""
    places: dict[tuple[str, int], list[tuple[pa.Buffer, Piece]]] = defaultdict(list)
    for message in sorted(messages, key=lambda message: message.task):
        if message.pieces:
            buffer = _mapped(message.file)
            for piece in message.pieces:
                places[piece.topic, piece.partition].append((buffer, piece))
    for (topic, partition), found in sorted(places.items(), key=lambda item: item[0]):
        streams = [item for item in found if not item[1].form]
        for rows in _joined(_read(buffer, piece) for buffer, piece in streams):
            yield topic, partition, rows
        for prepared in _prepared_again(item for item in found if item[1].form):
            yield topic, partition, prepared


def discard(home: str, owner: str, messages: Iterable[Staged]) -> None:
    """Remove the files of a run, and those that tasks killed before left behind."""
    for message in messages:
        if message.file:
            Path(message.file).unlink(missing_ok=True)
    folder = Path(home) / STAGING / owner
    with contextlib.suppress(FileNotFoundError):
        for left in folder.iterdir():
            left.unlink(missing_ok=True)
        folder.rmdir()


def _gathered(routed: Iterable[Routed]) -> Iterator[tuple[str, int, list[pa.RecordBatch]]]:
    """Gather small batches of a partition, so that it is appended in few and large ones."""
    waiting: dict[tuple[str, int, pa.Schema], list[pa.RecordBatch]] = defaultdict(list)
    size = 0
    for topic, partition, rows in routed:
        waiting[topic, partition, rows.schema].append(rows)
        size += rows.nbytes
        if size >= _FLUSH_BYTES:
            yield from _drained(waiting)
            size = 0
    yield from _drained(waiting)


def _drained(
    waiting: dict[tuple[str, int, pa.Schema], list[pa.RecordBatch]],
) -> Iterator[tuple[str, int, list[pa.RecordBatch]]]:
    for (topic, partition, _), batches in waiting.items():
        yield topic, partition, batches
    waiting.clear()


def _streamed(
    file: pa.NativeFile, topic: str, partition: int, batches: list[pa.RecordBatch]
) -> Piece:
    position = file.tell()
    with pa.ipc.new_stream(file, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return Piece(topic, partition, position, file.tell() - position)


def _prepared(
    log: PreparingLog,
    file: pa.NativeFile,
    topic: str,
    partition: int,
    batches: list[pa.RecordBatch],
) -> Iterator[Piece]:
    for table in _joined((pa.Table.from_batches([batch]) for batch in batches), _FRAME_BYTES):
        prepared = log.prepare(topic, table)
        for part in prepared.parts:
            position = file.tell()
            file.write(part.data)
            length = file.tell() - position
            yield Piece(
                topic, partition, position, length, part.records, part.form, prepared.topic_id
            )


def _prepared_again(found: Iterable[tuple[pa.Buffer, Piece]]) -> Iterator[Prepared]:
    """Give the rows of pieces in appends that fit into a segment."""
    parts: list[PreparedPart] = []
    size, topic_id = 0, ""
    for buffer, piece in found:
        data = buffer.slice(piece.position, piece.length)
        parts.append(PreparedPart(data, piece.records, tuple(piece.form)))
        size, topic_id = size + piece.length, piece.topic_id
        if size >= _FLUSH_BYTES:
            yield Prepared(topic_id, tuple(parts))
            parts, size = [], 0
    if parts:
        yield Prepared(topic_id, tuple(parts))


def _created(path: Path) -> pa.NativeFile:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return pa.OSFile(str(path), "wb")
    except OSError as error:
        raise StorageError(
            "STAGING_WRITE",
            f'rows cannot be staged in "{path.parent}": {error}',
            hint="Make the log's directory writable for Spark's workers, with room for a batch.",
        ) from error


def _mapped(file: str) -> pa.Buffer:
    with pa.memory_map(file) as source:
        return source.read_buffer()


def _read(buffer: pa.Buffer, piece: Piece) -> pa.Table:
    return pa.ipc.open_stream(buffer.slice(piece.position, piece.length)).read_all()


def _joined(tables: Iterable[pa.Table], most: int = _APPEND_BYTES) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        waiting.append(table)
        size += table.nbytes
        if size >= most:
            yield pa.concat_tables(waiting, promote_options="default")
            waiting, size = [], 0
    if waiting:
        yield pa.concat_tables(waiting, promote_options="default")
