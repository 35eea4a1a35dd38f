"""A load whose every record is accounted for: numbered within its partition, written and read.

What writes and what reads is anything with these few methods, so that every client goes through
the same storms: see `tests/kafka/confluent.py` for one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Seen(NamedTuple):
    """A record as a reader got it."""

    partition: int
    value: bytes


class Acknowledged(Protocol):
    """Called when a record is safe; an error is what became of one that never will be."""

    def __call__(self, partition: int, sent_at: float, error: str | None) -> None: ...


class Writer(Protocol):
    """Writes with every promise that its client has: `acks=all`, and no record twice."""

    def write(self, partition: int, value: bytes, acknowledged: Acknowledged) -> None:
        """Take a record; it may be on its way for long."""

    def flush(self, seconds: float) -> int:
        """Wait until every record is safe, and give how many are not."""


class Reader(Protocol):
    """Reads what is committed, of all partitions and from their beginnings."""

    def read(self, seconds: float) -> Iterable[Seen]:
        """Give what came; nothing while brokers are away."""

    def close(self) -> None:
        """Let go of the brokers."""


@dataclass(slots=True)
class Tally:
    """What was read of each partition: numbers from 0, each once, in order; else a word on it."""

    expected: list[int]
    """The number that comes next in each partition."""
    wrong: list[str] = field(default_factory=list)

    def see(self, record: Seen) -> None:
        """Compare a record with the one that should come now."""
        number, due = int(record.value.split(b" ", 1)[0]), self.expected[record.partition]
        if number == due:
            self.expected[record.partition] += 1
            return
        kind = "twice, or out of order" if number < due else "after a gap"
        self.wrong.append(f"partition {record.partition}: {number} came {kind}, {due} was due")
        self.expected[record.partition] = max(due, number + 1)


class Load:
    """Writes without a pause and reads all along, in two threads, until it is ended."""

    def __init__(self, writer: Writer, reader: Reader, *, partitions: int, rate: int) -> None:
        self._writer = writer
        self._reader = reader
        self._rate = rate
        self.written = [0] * partitions
        self.tally = Tally([0] * partitions)
        self.failed: list[str] = []
        self._safe_since = [0.0] * partitions
        """When the latest record was sent that is safe now, by partition."""
        self._writing, self._reading = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=self._write, daemon=True),
            threading.Thread(target=self._read, daemon=True),
        ]

    def start(self) -> None:
        """Begin to write and to read."""
        for thread in self._threads:
            thread.start()

    def flows_since(self, moment: float) -> bool:
        """Whether every partition has taken a record that was sent after a moment."""
        return min(self._safe_since) > moment

    def end(self, *, at_least: int, seconds: float = 120.0) -> None:
        """Write up to a number of records, and return when all of them were read."""
        self._rate = 1_000_000
        _until(lambda: sum(self.written) >= at_least or bool(self.failed), seconds)
        self._writing.set()
        self._threads[0].join(seconds)
        left = self._writer.flush(seconds)
        if left:
            self.failed.append(f"{left} records were never safe")
        with suppress(TimeoutError):
            _until(lambda: self.tally.expected == self.written, seconds)
        # A moment more, in which what is there twice would come.
        time.sleep(1)
        self._reading.set()
        self._threads[1].join(seconds)
        self._reader.close()

    def problems(self) -> list[str]:
        """Give what is not as it should be: nothing lost, nothing twice, everything in order."""
        missing = [
            f"partition {partition}: {read} of {written} were read"
            for partition, (read, written) in enumerate(
                zip(self.tally.expected, self.written, strict=True)
            )
            if read != written
        ]
        return [*self.failed[:3], *self.tally.wrong[:10], *missing]

    def _write(self) -> None:
        began, sent = time.monotonic(), 0
        while not self._writing.is_set() and not self.failed:
            for partition in range(len(self.written)):
                value = b"%d %s" % (self.written[partition], b"x" * 60)
                try:
                    self._writer.write(partition, value, self._acknowledged)
                except Exception as error:  # noqa: BLE001  # whatever a client raises is told
                    self.failed.append(f"the writer gave up: {error!r}")
                    return
                self.written[partition] += 1
            sent += len(self.written)
            ahead = sent / self._rate - (time.monotonic() - began)
            if ahead > 0.01:
                time.sleep(ahead)

    def _read(self) -> None:
        while not self._reading.is_set():
            try:
                for record in self._reader.read(0.2):
                    self.tally.see(record)
            except Exception as error:  # noqa: BLE001  # whatever a client raises is told
                self.failed.append(f"the reader gave up: {error!r}")
                return

    def _acknowledged(self, partition: int, sent_at: float, error: str | None) -> None:
        if error is not None:
            self.failed.append(f"partition {partition}: a record was refused: {error}")
        else:
            self._safe_since[partition] = sent_at


def _until(holds: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.05)
