"""A reader beside the writers that are killed: it says "wrong" by ending with an error."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from tests.faults.feed import LEFT, PLAIN, RIGHT, PlainCheck, TransactionCheck

PROJECT = Path(__file__).resolve().parents[2]


@contextmanager
def reading(home: Path) -> Iterator[None]:
    """Keep a reader running; at the end it must have seen nothing wrong."""
    command = [sys.executable, "-m", "tests.faults.reader", str(home)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stdin=subprocess.PIPE) as process:
        try:
            yield
            process.communicate(b"", timeout=60)
            assert process.returncode == 0, "the reader saw something wrong: see its stderr"
        finally:
            process.kill()


def _read(home: str) -> None:
    plain, moved = PlainCheck(), TransactionCheck()
    with open_log(Path(home)) as log:
        told_to_end = False
        while not told_to_end:
            told_to_end = bool(select.select([sys.stdin], [], [], 0)[0])
            plain.follow(log)
            moved.follow(log)
            positions = {
                TopicPartition(PLAIN, 0): plain.offset,
                TopicPartition(LEFT, 0): moved.offsets[LEFT],
                TopicPartition(RIGHT, 0): moved.offsets[RIGHT],
            }
            log.wait(positions, 0.05)


if __name__ == "__main__":
    _read(sys.argv[1])
