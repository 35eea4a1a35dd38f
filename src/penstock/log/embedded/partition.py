"""One partition of an embedded log: its reader, and its appender once somebody appends."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from penstock.clock import Clock
from penstock.log.embedded.appender import PartitionAppender
from penstock.log.embedded.boot import this_boot
from penstock.log.embedded.catalog import TOPICS
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.head import HEAD_FILE
from penstock.log.embedded.reader import PartitionReader
from penstock.log.record import TopicPartition
from penstock.log.storage import Storage
from penstock.log.topic import Topic


class Partition:
    """The two sides of a partition in this process."""

    def __init__(
        self,
        storage: Storage,
        topic: Topic,
        number: int,
        *,
        clock: Clock,
        decisions: TransactionDecisions,
        on_sealed: Callable[[Partition], None] = lambda _: None,
    ) -> None:
        self.place = TopicPartition(topic.name, number)
        self.directory = f"{TOPICS}/{topic.name}/{number}"
        self.head_path = f"{self.directory}/{HEAD_FILE}"
        self.topic = topic
        self.number = number
        self.reader = PartitionReader(storage, self.directory, topic, decisions)
        self._storage = storage
        self._clock = clock
        self._decisions = decisions
        self._on_sealed = on_sealed
        self._appender: PartitionAppender | None = None
        self._opening = threading.Lock()
        self._mend_after_a_power_cut()

    def _mend_after_a_power_cut(self) -> None:
        """Let readers see what was synced beyond the head; where this user may not write, wait."""
        if self.reader.head().boot != this_boot():
            with contextlib.suppress(OSError), self.appender.locked():
                pass

    @property
    def appender(self) -> PartitionAppender:
        """The writing side; its files are opened at the first use."""
        if self._appender is None:
            with self._opening:
                if self._appender is None:
                    self._appender = PartitionAppender(
                        self._storage,
                        self.directory,
                        self.topic,
                        clock=self._clock,
                        decisions=self._decisions,
                        on_sealed=self._sealed,
                    )
        return self._appender

    def configure(self, topic: Topic) -> None:
        """Use changed settings from now on."""
        self.topic = topic
        if self._appender is not None:
            self._appender.configure(topic)

    def _sealed(self) -> None:
        self._on_sealed(self)

    def close(self) -> None:
        """Let go of the files."""
        if self._appender is not None:
            self._appender.close()
            self._appender = None
