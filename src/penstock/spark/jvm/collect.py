"""The packets of a batch, brought to this process by one job and nothing else.

`DataFrame.collect` plans what Spark has planned already, and has the byte code of its own classes
read before every job: a fifth of what the JVM took for a small batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import DataFrame

_FOLDER = "penstock.packets"
"""The property of the JVM that says where many packets are put; it is there with the classes."""
_BY_CALL = 4 * 1024
"""What py4j takes along in one write, as text; more is quicker in a file.

An answer that does not fit into its buffer of 8 KiB is sent in parts, and the last one waits until
the first is acknowledged: 40 ms.
"""
_LENGTH = 4


def offer_packets(context: SparkContext, scratch: Path) -> None:
    """Let batches of a session be collected by our own class from now on."""
    java: Any = context._jvm  # noqa: SLF001  # py4j has no types
    java.java.lang.Class.forName("penstock.Packets")
    java.java.lang.System.setProperty(_FOLDER, str(scratch))


@dataclass(frozen=True, slots=True)
class _Offered:
    """What collects in one JVM and counts tasks, and where it puts what is long."""

    collect: Any
    tasks_of: Any
    folder: Path


def tasks_of(rows: DataFrame) -> int:
    """Give the number of tasks that read a batch."""
    offered = _offered_in(rows)
    frame: Any = rows._jdf  # noqa: SLF001  # py4j has no types
    if offered is None:
        return int(frame.rdd().getNumPartitions())
    return int(offered.tasks_of(frame))


def collected(rows: DataFrame, levels: DataFrame | None = None) -> list[bytes] | None:
    """Run a batch and give its packets; None where our class is not to be had.

    Rows go through the stages of `levels`, if there are any, which may be those of another batch:
    so these are planned once.
    """
    offered = _offered_in(rows)
    if offered is None:
        return None
    file = offered.folder / f"packets-{uuid4().hex}"
    stages: Any = None if levels is None else levels._jdf  # noqa: SLF001  # py4j has no types
    try:
        given = offered.collect(rows._jdf, stages, str(file), _BY_CALL)  # noqa: SLF001  # as above
        return _apart(file.read_bytes() if given is None else bytes(given))
    finally:
        file.unlink(missing_ok=True)


def _offered_in(rows: DataFrame) -> _Offered | None:
    """Give what collects where some rows are, if our class is to be had."""
    try:
        return _offered(rows.sparkSession.sparkContext._jvm)  # noqa: SLF001  # py4j has no types
    except LookupError:
        return None


@lru_cache(maxsize=1)
def _offered(java: Any) -> _Offered:  # noqa: ANN401  # py4j has no types
    """Find our class once a JVM: for each part of its name py4j has all of Spark's jars searched.

    What is not offered yet is an error, which no cache keeps.
    """
    folder = java.java.lang.System.getProperty(_FOLDER)
    if folder is None:
        raise LookupError(_FOLDER)
    ours = java.penstock.Packets
    return _Offered(ours.collect, ours.tasksOf, Path(folder))


def _apart(joined: bytes) -> list[bytes]:
    found, place = [], 0
    while place < len(joined):
        start = place + _LENGTH
        place = start + int.from_bytes(joined[place:start], "big")
        found.append(joined[start:place])
    return found
