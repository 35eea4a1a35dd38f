"""A writer to be killed: it takes up where its predecessor's acknowledgements end."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.open import open_log
from penstock.log.port import WriterStamp
from penstock.testing.faults import FaultPlan, FaultyStorage, Kill
from penstock.testing.kill import CYCLE_VARIABLE
from tests.faults.feed import (
    LEFT,
    PLAIN,
    RIGHT,
    TRANSACTION_ID,
    batch_from,
    create_topics,
    plain_rows,
    transaction_rows,
)

WRITER = 7


class Acknowledged:
    """The last number whose append returned: one small write, which a kill cannot tear."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)

    @property
    def last(self) -> int:
        """The number noted last; -1 before the first."""
        return int(os.pread(self._file, 20, 0) or b"-1")

    def note(self, number: int) -> None:
        """Note a number."""
        os.pwrite(self._file, b"%020d" % number, 0)


def write_plain(home: str) -> None:
    """Append batches for ever; one whose fate is not known is sent again, as a producer does."""
    with open_log(Path(home)) as log:
        acknowledged = Acknowledged(Path(home) / "plain.ack")
        following = acknowledged.last + 1
        while True:
            following = append_plain(log, following)
            acknowledged.note(following - 1)


def append_plain(log: EmbeddedLog, following: int) -> int:
    """Append one batch and give the number after it."""
    numbers = batch_from(following)
    stamp = WriterStamp(WRITER, 0, following)
    done = log.append(PLAIN, 0, plain_rows(numbers), stamp=stamp)
    assert (done.base_offset, done.last_offset) == (numbers[0], numbers[-1]), done
    return numbers[-1] + 1


def move(home: str) -> None:
    """Commit transactions for ever, each after one that is aborted."""
    with open_log(Path(home)) as log:
        run_transactions(log, Acknowledged(Path(home) / "moved.ack"), most=1_000_000)


def run_transactions(log: EmbeddedLog, acknowledged: Acknowledged, *, most: int) -> None:
    """Commit transactions up to a number, from where the note of the last one says."""
    with log.transaction(TRANSACTION_ID) as transaction:
        done = int(transaction.note or 0)
        assert done >= acknowledged.last, "an acknowledged transaction was forgotten"
        for number in range(done + 1, most + 1):
            for fate in ("abort", "commit") if number % 3 == 0 else ("commit",):
                transaction.begin()
                for topic in (LEFT, RIGHT):
                    transaction.append(topic, 0, transaction_rows(number, topic, fate))
                if fate == "abort":
                    transaction.abort()
                else:
                    transaction.commit(str(number))
            acknowledged.note(number)


def alternate(home: str) -> None:
    """Append in odd cycles, run transactions in even ones."""
    _do_not_sync()
    (write_plain if int(os.environ[CYCLE_VARIABLE]) % 2 else move)(home)


def die_at_a_call(home: str) -> None:
    """Do a fixed piece of work and die at the call, and at its moment, that the cycle says."""
    _do_not_sync()
    cycle = int(os.environ[CYCLE_VARIABLE]) - 1
    number, moment = cycle // 3 + 1, (Kill("before"), Kill("within"), Kill("after"))[cycle % 3]
    disk = DiskStorage(Path(home) / "log")
    log = EmbeddedLog(FaultyStorage(disk, FaultPlan({number: moment})))
    plain = Acknowledged(Path(home) / "plain.ack")
    following = plain.last + 1
    for _ in range(6):
        following = append_plain(log, following)
        plain.note(following - 1)
    log.partition(PLAIN, 0).appender.roll()
    moved = Acknowledged(Path(home) / "moved.ack")
    run_transactions(log, moved, most=max(moved.last, 0) + 4)
    log.close()


def _do_not_sync() -> None:
    """Spare this process the disk: what it wrote outlives its death, only not the machine's."""
    for name in ("fsync", "fdatasync"):
        setattr(os, name, lambda _: None)


def _warm_up() -> None:
    """Do everything once, so that a forked child does not spend its short life importing."""
    log = EmbeddedLog(MemoryStorage())
    create_topics(log)
    append_plain(log, 0)
    with log.transaction(TRANSACTION_ID) as transaction:
        transaction.begin()
        transaction.append(LEFT, 0, transaction_rows(1, LEFT))
        transaction.commit()
    log.close()


_warm_up()
