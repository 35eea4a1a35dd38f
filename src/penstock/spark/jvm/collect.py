"""The packets of a batch, brought to this process by one job and nothing else.

`DataFrame.collect` plans what Spark has planned already, and has the byte code of its own classes
read before every job: a fifth of what the JVM took for a small batch.
"""

from __future__ import annotations

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


def collected(rows: DataFrame) -> list[bytes] | None:
    """Run a batch and give its packets; None where our class is not to be had."""
    java: Any = rows.sparkSession.sparkContext._jvm  # noqa: SLF001  # py4j has no types
    folder = java.java.lang.System.getProperty(_FOLDER)
    if folder is None:
        return None
    file = Path(folder) / f"packets-{uuid4().hex}"
    try:
        given = java.penstock.Packets.collect(rows._jdf, str(file), _BY_CALL)  # noqa: SLF001
        return _apart(file.read_bytes() if given is None else bytes(given))
    finally:
        file.unlink(missing_ok=True)


def _apart(joined: bytes) -> list[bytes]:
    found, place = [], 0
    while place < len(joined):
        start = place + _LENGTH
        place = start + int.from_bytes(joined[place:start], "big")
        found.append(joined[start:place])
    return found
