"""A log on disk for the checks that run a program on it, and what they find there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa

from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.physical import Physical
from penstock.schema.annotation import schema_of
from penstock.schema.arrow import to_arrow
from tests.requirements.events import Row

EVENTS = pa.schema([("k", pa.string()), ("v", pa.int64()), ("at", pa.timestamp("ms", tz="UTC"))])
PATIENCE = 20.0


def publish(home: Path, rows: Sequence[Row], *, topic: str = "events", partitions: int = 1) -> None:
    """Append rows to a topic, dealt out over its partitions; create it where it is not there."""
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, partitions=partitions, schema=EVENTS)
        count = log.topic(topic).partitions
        for partition in range(count):
            share = list(rows[partition::count])
            if share:
                log.append(topic, partition, pa.Table.from_pylist(share, EVENTS))


def put(
    home: Path, topic: str, columns: Mapping[str, object], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Append rows under their first column as key; one whose second is None deletes its key."""
    schema = to_arrow(schema_of(columns))
    key, second, *_ = columns
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, schema=schema)
        for row in rows:
            found = dict(zip(columns, row, strict=True))
            table = pa.Table.from_pylist([found], schema)
            table = table.append_column("_key", pa.array([str(found[key]).encode()]))
            log.append(topic, 0, table.append_column("_deleted", pa.array([found[second] is None])))


def records(home: Path, topic: str) -> list[Row]:
    """All records of a topic with their partition and what the log adds, by partition."""
    found: list[Row] = []
    with open_log(home) as log:
        if topic not in log.topics():
            return found
        for place, bound in sorted(log.snapshot([topic]).items()):
            offset = bound.start
            while offset < bound.end:
                chunk = log.read(*place, offset, ReadLimit(stop=bound.end))
                found += [{**row, "_partition": place.partition} for row in chunk.rows.to_pylist()]
                offset = chunk.next_offset
    return found


def stored(home: Path, topic: str) -> list[Row]:
    """All rows of a topic without what the log adds."""
    return [
        {name: value for name, value in row.items() if name == "_weight" or name[0] != "_"}
        for row in records(home, topic)
    ]


def to_the_end(
    physical: Physical,
    home: Path,
    *,
    checkpoint: str = "job",
    **options: Any,  # noqa: ANN401
) -> InlineRun:
    """Run a program in this process, an event at a time, over what its input holds."""
    settings = InlineOptions(**{"until": "end", **options})
    run = InlineRun(physical, home=home, checkpoint=home / checkpoint, options=settings)
    run.run()
    return run


@contextmanager
def running(physical: Physical, home: Path) -> Iterator[InlineRun]:
    """Let a program run in this process until the block is left."""
    run = InlineRun(physical, home=home, checkpoint=home / "job")
    thread = Thread(target=run.run)
    thread.start()
    try:
        yield run
    finally:
        run.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
