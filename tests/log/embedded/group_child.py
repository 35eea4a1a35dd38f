"""A member of a group in a process of its own: tells on stdout what happens to it.

python -m tests.log.embedded.group_child HOME GROUP SESSION_SECONDS
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from penstock.errors import GroupError
from penstock.log.consumer import Consumer
from penstock.log.consumer_config import ConsumerSettings
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.home import LOG_DIRECTORY
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.testing.faulty import FaultyStorage
from penstock.testing.kill import CYCLE_VARIABLE
from penstock.testing.plan import FaultPlan, Kill


class Member:
    """Reads the topic "orders" and commits after each poll, until it gets a SIGTERM."""

    def __init__(self, home: str, group: str, session: str) -> None:
        self.is_stopped = False
        signal.signal(signal.SIGTERM, self.stop)
        self.consumer = Consumer(
            open_log(home),
            "orders",
            group=group,
            auto_commit=None,
            max_poll_records=10,
            session_timeout=timedelta(seconds=float(session)),
            on_assign=lambda places: self.tell_places("assigned", places),
            on_revoke=lambda places: self.tell_places("revoked", places),
            on_lost=lambda places: self.tell_places("lost", places),
        )

    def run(self) -> None:
        tell("ready")
        while not self.is_stopped:
            records = self.consumer.poll(0.05)
            for record in records:
                tell("record", record.partition, record.offset)
            if records:
                self.commit()
        self.consumer.close()

    def commit(self) -> None:
        try:
            self.consumer.commit()
        except GroupError as refusal:
            tell(refusal.code)
        else:
            tell("committed")

    def stop(self, *_: object) -> None:
        self.is_stopped = True

    def tell_places(self, event: str, places: frozenset[TopicPartition]) -> None:
        tell(event, *sorted(place.partition for place in places))


def tell(*words: object) -> None:
    """Write a line that the parent reads at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def process_until_killed(home: str, out: str) -> None:
    """Write down each record, then commit it; die at the changing call the cycle names."""
    cycle = int(os.environ[CYCLE_VARIABLE])
    death = Kill("after" if cycle % 2 else "before")
    disk = FaultyStorage(DiskStorage(Path(home, LOG_DIRECTORY)), FaultPlan({cycle: death}))
    settings = ConsumerSettings(auto_commit=None, max_poll_records=3)
    consumer = Consumer(EmbeddedLog(disk), "orders", group="g", **settings)
    with Path(out).open("a", buffering=1) as file:
        while True:
            for record in consumer.poll():
                file.write(f"{record.partition} {record.offset}\n")
                consumer.commit({TopicPartition("orders", record.partition): record.offset + 1})


if __name__ == "__main__":
    Member(*sys.argv[1:]).run()
