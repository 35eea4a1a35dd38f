"""Where a query that runs on keeps how far it came, and who runs it.

One process at a time runs a query; the others leave it alone. Whichever engine began it goes on
with it, since the other knows nothing of what was remembered and would do all of it again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.log.embedded.lock import FlockLock
from penstock.log.record import TopicPartition
from penstock.spark.retired import is_retired

Engine: TypeAlias = Literal["here", "spark"]

_LOCK = "here.lock"
_ENGINE = "engine"
_OFFSETS = "reached.json"


def checkpoint_of(home: Path, id_: str) -> Path:
    """Give where a query remembers how far it came."""
    return home / "jobs" / id_


def engine_of(home: Path, id_: str) -> Engine | None:
    """Give what has begun a query, or none before the first time."""
    try:
        found = (checkpoint_of(home, id_) / _ENGINE).read_text().strip()
    except OSError:
        return None
    return "spark" if found == "spark" else "here"


@contextmanager
def taken(home: Path, id_: str, engine: Engine) -> Iterator[bool]:
    """Hold a query for the length of a with block; False where another process or engine has it."""
    folder = checkpoint_of(home, id_)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FlockLock(str(folder / _LOCK))
    free = lock.acquire(timeout=0) and not is_retired(folder)
    ours = free and engine_of(home, id_) in {None, engine}
    try:
        if ours:
            (folder / _ENGINE).write_text(engine)
        yield ours
    finally:
        lock.close()


def is_taken(home: Path, id_: str) -> bool:
    """Whether a process runs a query."""
    folder = checkpoint_of(home, id_)
    if not folder.is_dir():
        return False
    lock = FlockLock(str(folder / _LOCK))
    try:
        return not lock.acquire(timeout=0)
    finally:
        lock.close()


def write_reached(home: Path, id_: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Tell others the next record of each partition that a query reads."""
    folder = checkpoint_of(home, id_)
    told = [[at.topic, at.partition, offset] for at, offset in offsets.items()]
    beside = folder / f"{_OFFSETS}.new"
    beside.write_text(json.dumps(told))
    beside.replace(folder / _OFFSETS)


def reached_of(home: Path, id_: str) -> dict[TopicPartition, int]:
    """Give the next record of each partition that a query reads; none before the first."""
    try:
        told = json.loads((checkpoint_of(home, id_) / _OFFSETS).read_text())
    except (OSError, ValueError):
        return {}
    return {TopicPartition(topic, partition): offset for topic, partition, offset in told}


def forget_query(home: Path, id_: str) -> None:
    """Delete what a query that is gone remembered; one that still runs has to end first."""
    with taken(home, id_, engine_of(home, id_) or "here") as ours:
        if ours:
            shutil.rmtree(checkpoint_of(home, id_), ignore_errors=True)
