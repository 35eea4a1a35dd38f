"""Processes around a compacted topic: one that writes, some that clean."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.testing.faults import FaultPlan, FaultyStorage, Kill
from penstock.testing.kill import CYCLE_VARIABLE
from tests.faults.writer import Acknowledged

PROJECT = Path(__file__).resolve().parents[2]
TABLE = "table"
KEYS = 20
AT_ONCE = 5


def upsert(log: EmbeddedLog, first: int) -> None:
    """Append records whose value is their offset."""
    numbers = range(first, first + AT_ONCE)
    rows = rows_of_bytes(
        [b"%d" % number for number in numbers], keys=[b"%d" % (number % KEYS) for number in numbers]
    )
    assert log.append(TABLE, 0, rows).base_offset == first


def upsert_for_ever(home: str) -> None:
    """Write until killed, from the end on."""
    log = open_log(Path(home))
    acknowledged = Acknowledged(Path(home) / "table.ack")
    following = log.bounds(TABLE, 0).end
    while True:
        upsert(log, following)
        following += AT_ONCE
        acknowledged.note(following - 1)
        time.sleep(0.0005)


def clean_for_ever(home: str) -> None:
    """Compact until killed."""
    for name in ("fsync", "fdatasync"):
        setattr(os, name, lambda _: None)
    log = open_log(Path(home))
    while True:
        log.clean(TABLE)


def die_while_cleaning(home: str) -> None:
    """Write some records, compact, and die at the call that the cycle says."""
    for name in ("fsync", "fdatasync"):
        setattr(os, name, lambda _: None)
    cycle = int(os.environ[CYCLE_VARIABLE]) - 1
    number, moment = cycle // 3 + 1, (Kill("before"), Kill("within"), Kill("after"))[cycle % 3]
    with open_log(Path(home)) as log:
        acknowledged = Acknowledged(Path(home) / "table.ack")
        for _ in range(4):
            following = log.bounds(TABLE, 0).end
            upsert(log, following)
            acknowledged.note(following + AT_ONCE - 1)
    disk = DiskStorage(Path(home) / "log")
    log = EmbeddedLog(FaultyStorage(disk, FaultPlan({number: moment})))
    log.clean(TABLE, include_active=True)


@contextmanager
def running(act: str, home: Path) -> Iterator[None]:
    """Keep a process at an act for the length of a with block."""
    command = [sys.executable, "-m", "tests.faults.cleaner", act, str(home)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(command, cwd=PROJECT, env=environment) as process:
        try:
            yield
            assert process.poll() is None, f"{act} ended by itself: see its stderr"
        finally:
            process.kill()


def check_table(log: EmbeddedLog, acknowledged: int) -> int:
    """Read the topic: each record right, in order, of each key the newest; give how many."""
    offset, seen = log.bounds(TABLE, 0).start, {}
    last, count = -1, 0
    # Up to the end of now: a record may have gone because of one written after the reading began.
    while offset < log.bounds(TABLE, 0).end:
        chunk = log.read(TABLE, 0, offset, ReadLimit(records=50))
        columns = [chunk.rows[name].to_pylist() for name in ("_offset", "_key", "value")]
        for at, key, value in zip(*columns, strict=True):
            assert value == b"%d" % at, (at, value)
            assert key == b"%d" % (at % KEYS), (at, key)
            assert at > last, "order is lost"
            seen[at % KEYS] = last = at
            count += 1
        assert chunk.next_offset > offset
        offset = chunk.next_offset
    for number in range(max(acknowledged - KEYS + 1, 0), acknowledged + 1):
        assert seen.get(number % KEYS, -1) >= number, f"record {number} is lost"
    return count


if __name__ == "__main__":
    {"upsert": upsert_for_ever, "clean": clean_for_ever}[sys.argv[1]](sys.argv[2])
