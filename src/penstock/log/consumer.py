"""Reading a log as records: alone, or sharing the partitions with the members of a group."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Self, TypeVar, Unpack

from penstock.errors import UsageError
from penstock.log.consumer_config import ConsumerConfig, ConsumerSettings, consumer_config
from penstock.log.cursor import Run
from penstock.log.fetch import Batch, Fetcher
from penstock.log.group_part import GroupPart
from penstock.log.lone_part import LonePart
from penstock.log.port import Log
from penstock.log.position import offset_at
from penstock.log.record import Record, TopicPartition

# How late a waiting consumer notices that its group wants something, or that it was closed.
_SLICE = 0.2
_ASYNC_WAIT = 1.0
_SHORTEST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05

_Taken = TypeVar("_Taken")


class Consumer:
    """Gives the records of topics or partitions, in order within each partition.

    With a group and topics it shares the partitions with the group's other members; with a
    group and partitions it reads those alone and stores its offsets under the group's name;
    without a group nothing is stored and `position` and `seek` are the program's business.
    A record counts as processed when the next one is asked for: automatic commits never
    cover a record the program still works on. One thread at a time; `close` may come from
    any thread.
    """

    def __init__(
        self,
        log: Log,
        topics: str | Sequence[str] = (),
        *,
        group: str | None = None,
        partitions: Iterable[TopicPartition] | None = None,
        **settings: Unpack[ConsumerSettings],
    ) -> None:
        config = consumer_config(settings)
        names = (topics,) if isinstance(topics, str) else tuple(topics)
        if bool(names) == (partitions is not None):
            raise UsageError(
                "CONSUMER_TOPICS",
                "a consumer reads either topics or partitions",
                hint='Give one of the two, as in Consumer(log, "orders").',
            )
        self._log = log
        self._group = group
        self._config = config
        self._guard = threading.RLock()
        self._closing = threading.Event()
        self._is_closed = False
        self._fruitless = 0
        self._fetcher = Fetcher(
            log,
            isolation=config.isolation,
            out_of_range=config.out_of_range,
            fetch_bytes=config.fetch_bytes,
        )
        self._part = _part(log, group, names, partitions, self._fetcher, config)

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions read now; those of a group come with the first poll."""
        return self._fetcher.places

    def poll(self, timeout: float = 1.0) -> list[Record]:
        """Give the next records, as soon as there are any; none after `timeout` seconds."""
        self._require_open()
        found: list[Record] = []
        for run in self._next_runs(self._config.max_poll_records, timeout):
            if run.cursor.position == run.position:
                run.cursor.position = run.next_offset
                found += run.records
        return found

    def poll_batch(self, timeout: float = 1.0) -> Batch | None:
        """Give the next rows of one partition as an Arrow table; None after `timeout` seconds."""
        self._require_open()
        return self._next(self._fetcher.batch, timeout)

    def records(
        self, *, max_records: int | None = None, idle_timeout: timedelta | None = None
    ) -> Iterator[Record]:
        """Give records for ever, or up to a number, or until none comes for some time."""
        left = float("inf") if max_records is None else max_records
        timeout = _ASYNC_WAIT if idle_timeout is None else idle_timeout.total_seconds()
        while left > 0 and not self._closing.is_set():
            runs = self._next_runs(int(min(left, self._config.max_poll_records)), timeout)
            if not runs and idle_timeout is not None:
                return
            for run in runs:
                for record in self._walk(run):
                    left -= 1
                    yield record

    def __iter__(self) -> Iterator[Record]:
        """Give records for ever."""
        return self.records()

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Give records for ever, waiting for them without holding up the event loop."""
        most = self._config.max_poll_records
        while not self._closing.is_set():
            for run in await asyncio.to_thread(self._next_runs, most, _ASYNC_WAIT):
                for record in self._walk(run):
                    yield record

    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None:
        """Store the positions, or given offsets, as what the group reads next."""
        with self._guard:
            self._require_open()
            self._part.commit(offsets)

    def committed(self) -> dict[TopicPartition, int]:
        """What the group has stored; nothing without a group."""
        return {} if self._group is None else self._log.committed(self._group)

    def position(self, place: TopicPartition) -> int:
        """The offset of the next record to come from a partition."""
        return self._fetcher.cursor(place).position

    def seek(self, place: TopicPartition, offset: int) -> None:
        """Continue elsewhere in a partition."""
        with self._guard:
            self._fetcher.cursor(place).position = offset

    def seek_to_beginning(self, *places: TopicPartition) -> None:
        """Continue at the first record of some partitions, or of all."""
        for place in places or self.assignment:
            self.seek(place, self._log.bounds(*place, self._config.isolation).start)

    def seek_to_end(self, *places: TopicPartition) -> None:
        """Continue after the last record of some partitions, or of all."""
        for place in places or self.assignment:
            self.seek(place, self._log.bounds(*place, self._config.isolation).end)

    def seek_to_time(self, moment: datetime, *places: TopicPartition) -> None:
        """Continue at the first record of a time or later, in some partitions or in all."""
        for place in places or self.assignment:
            self.seek(place, offset_at(self._log, place, moment, self._config.isolation))

    def pause(self, *places: TopicPartition) -> None:
        """Give no records of some partitions until `resume`; they stay assigned."""
        for place in places:
            self._fetcher.cursor(place).is_paused = True

    def resume(self, *places: TopicPartition) -> None:
        """Give records of paused partitions again."""
        for place in places:
            self._fetcher.cursor(place).is_paused = False

    def lag(self) -> dict[TopicPartition, int]:
        """How many offsets each partition's position is behind its end."""
        return {
            place: self._log.bounds(*place, self._config.isolation).end - position
            for place, position in self._fetcher.positions().items()
        }

    def close(self, *, commit: bool = True) -> None:
        """Store the positions where that is automatic, and leave; closing twice is harmless."""
        with self._guard:
            if not self._closing.is_set():
                self._closing.set()
                try:
                    self._part.leave(commit=commit)
                finally:
                    self._fetcher.drop(self._fetcher.places)
                    self._is_closed = True

    def __enter__(self) -> Self:
        """Use the consumer for the length of a with block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # After a failure the last records may be unprocessed: they are to come again.
        self.close(commit=kind is None)

    async def __aenter__(self) -> Self:
        """Use the consumer for the length of an async with block."""
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await asyncio.to_thread(self.close, commit=kind is None)

    def _next_runs(self, most: int, timeout: float) -> list[Run]:
        return self._next(lambda: self._fetcher.runs(most), timeout) or []

    def _next(self, take: Callable[[], _Taken], timeout: float) -> _Taken | None:
        """Wait until there is something to take; None when the time is over."""
        deadline = time.monotonic() + timeout
        while not self._closing.is_set():
            with self._guard:
                self._attend()
                taken = take()
                awaited = self._fetcher.awaited()
            if taken:
                self._fruitless = 0
                return taken
            if not self._wait(awaited, deadline):
                break
        return None

    def _walk(self, run: Run) -> Iterator[Record]:
        """Give the records of a run one by one, for as long as the position follows them."""
        cursor, expected = run.cursor, run.position
        news = self._part.news
        for record in run.records:
            if cursor.position != expected or cursor.is_paused:
                return
            cursor.position = expected = record.offset + 1
            yield record
            if news is not None and news.is_set():
                with self._guard:
                    self._attend()
        if cursor.position == expected:
            cursor.position = run.next_offset

    def _attend(self) -> None:
        if self._part.is_due and not self._closing.is_set():
            self._part.attend()

    def _wait(self, awaited: Mapping[TopicPartition, int], deadline: float) -> bool:
        """Wait for a reason to look again; False when the time is over or the consumer closed."""
        news = self._part.news
        while (left := deadline - time.monotonic()) > 0 and not self._closing.is_set():
            pause = min(left, _SLICE)
            if awaited and self._log.wait(awaited, pause):
                self._pause_if_fruitless()
                return True
            if not awaited:
                (news or self._closing).wait(pause)
            if self._config.isolation == "uncommitted" or (news is not None and news.is_set()):
                return True
        return False

    def _pause_if_fruitless(self) -> None:
        # Records that are announced but cannot be had must not keep a processor busy.
        if self._fruitless:
            time.sleep(min(_SHORTEST_PAUSE * 2 ** min(self._fruitless, 10), _LONGEST_PAUSE))
        self._fruitless += 1

    def _require_open(self) -> None:
        if self._is_closed:
            raise UsageError(
                "CONSUMER_CLOSED",
                "the consumer was closed",
                hint="Make a new one; a group remembers what was committed.",
            )


def _part(
    log: Log,
    group: str | None,
    topics: tuple[str, ...],
    partitions: Iterable[TopicPartition] | None,
    fetcher: Fetcher,
    config: ConsumerConfig,
) -> GroupPart | LonePart:
    if group is not None and topics:
        return GroupPart(log, group, topics, fetcher, config)
    places = [] if partitions is None else [TopicPartition(*place) for place in partitions]
    for topic in topics:
        count = log.topic(topic).partitions
        places.extend(TopicPartition(topic, number) for number in range(count))
    return LonePart(log, group, tuple(places), fetcher, config)
