"""Queries of cases on Spark: a streaming query on a log of its own, given a record at a time.

The query runs as any other: on Spark's one session, with a checkpoint, until it is stopped. A
record is appended, Spark makes a batch of it, and what that batch wrote is what came of the record.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from penstock.errors import StateError
from penstock.front.sql.statement import Started
from penstock.log.open import open_log
from penstock.log.port import Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.model.physical import Physical, Settings
from penstock.model.progress import Progress
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import left_before
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.spark.session import spark_session
from penstock.sql.running import physical_of
from tests.conformance.ksql_codec import Sent
from tests.conformance.ksql_feed import Feed

# One of each: a case has a handful of records, and every task and every state store costs.
_SETTINGS = Settings(buckets=1, parallelism=1)
_PATIENCE = 240.0
_LOOK = 0.5


class SparkRun:
    """A program on Spark. It starts with the first records, so that its first batch has them."""

    def __init__(self, query: Started) -> None:
        self._running: ProgramQuery | None = None
        self._begin(query)

    def _begin(self, query: Started) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="ksql-"))
        self._checkpoint = self._home / "job"
        self._log: Log = open_log(self._home / "log")
        self._given: Counter[str] = Counter()
        self._read: Counter[tuple[str, int]] = Counter()
        self._batch = threading.Event()
        self._written_up_to = -1
        self._physical: Physical = self._planned(query)

    def push(self, records: Sequence[Sent]) -> list[Sent]:
        """Append records; give what was written when they were read."""
        if self._running is None and self._begins_later():
            self._running = self._started()
        for record in records:
            rows = rows_of_bytes(
                [record.value],
                keys=[record.key],
                timestamps=[record.timestamp],
                headers=[record.headers],
            )
            self._log.append(record.topic, 0, rows)
            self._given[record.topic] += 1
        if self._running is None:
            self._running = self._started()
        self._await(self._running)
        return list(self._written())

    def replace(self, query: Started) -> None:
        """Go on as another query from the checkpoint, or with a new log where that cannot be."""
        ran = self._running is not None
        self._await_commit()
        self._stop()
        self._physical = self._planned(query)
        try:
            self._running = self._started() if ran else None
        except StateError:
            self.close()
            self._begin(query)

    def close(self) -> None:
        """Stop it, and remove its files."""
        self._stop()
        self._log.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _planned(self, query: Started) -> Physical:
        physical = physical_of(query, _SETTINGS)
        topics = {scan.stream.topic for scan in physical.scans}
        for topic in sorted(topics - set(self._log.topics())):
            self._log.create_topic(topic, partitions=1)
        return physical

    def _begins_later(self) -> bool:
        """Whether it would pass over what is there before it starts."""
        return any(scan.stream.start.place != "beginning" for scan in self._physical.scans)

    def _started(self) -> ProgramQuery:
        return start(
            self._physical,
            home=self._home / "log",
            checkpoint=self._checkpoint,
            session=spark_session(master="local[2]"),
            # It stands still at 0, as that of the driver.
            clock=FileClock(self._home / "clock"),
            on_progress=self._told,
        )

    def _told(self, progress: Progress) -> None:
        self._written_up_to = progress.batch
        self._batch.set()

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None

    def _await(self, running: ProgramQuery) -> None:
        """Return when what was given is read and what came of it is written."""
        deadline = time.monotonic() + _PATIENCE
        while not self._done():
            if running.status != "running":
                raise running.error or AssertionError("the query ended by itself")
            assert time.monotonic() < deadline, "the query does not come to an end"
            self._batch.wait(_LOOK)

    def _await_commit(self) -> None:
        """Return when Spark knows the last batch to be done: another query would do it again."""
        deadline = time.monotonic() + _PATIENCE
        while current_files(self._checkpoint).committed < self._written_up_to:
            assert time.monotonic() < deadline, "the last batch does not come to an end"
            time.sleep(_LOOK / 50)

    def _done(self) -> bool:
        if not self._batch.is_set():
            return False
        self._batch.clear()
        left = left_before(current_files(self._checkpoint))
        # It is stored before the rows of its batch can be seen.
        if left is None or left.batch > self._written_up_to:
            return False
        return all(at >= self._given[place.topic] for place, at in left.at.positions.items())

    def _written(self) -> Iterator[Sent]:
        for topic in [output.sink.topic for output in self._physical.outputs]:
            for partition in range(self._log.topic(topic).partitions):
                chunk = self._log.read(topic, partition, self._read[topic, partition], ReadLimit())
                self._read[topic, partition] = chunk.next_offset
                found: list[dict[str, Any]] = chunk.rows.to_pylist()
                for row in found:
                    headers = tuple((item["key"], item["value"]) for item in row["_headers"] or [])
                    yield Sent(topic, row["_key"], row["value"], row["_timestamp"], headers)


class SparkFeed(Feed):
    """One query on Spark."""

    def __init__(self, query: Started) -> None:
        self._run = SparkRun(query)

    @override
    def push(self, record: Sent) -> list[Sent]:
        return self._run.push([record])

    @override
    def replace(self, query: Started) -> None:
        self._run.replace(query)

    @override
    def close(self) -> None:
        self._run.close()
