"""A piece of work that touches all of the log, in steps that may fail and be tried again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from penstock.clock import ManualClock
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import Cleanup, TopicConfig
from tests.faults.feed import (
    LEFT,
    PLAIN,
    RIGHT,
    TRANSACTION_ID,
    PlainCheck,
    TransactionCheck,
    batch_from,
    plain_rows,
    transaction_rows,
)

TABLE, RECENT, GONE = "table", "recent", "gone"
GROUP = "readers"
KEYS = 3
Step = Callable[[EmbeddedLog], None]


class Work:
    """Does the steps and knows what was acknowledged."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000)
        self._plain = 0
        self._moved = 0
        self._put = 0
        self._recent = 0
        self._committed = 0

    def steps(self) -> list[Step]:
        """All steps in order; each may be repeated until it succeeds."""
        small = TopicConfig(segment_bytes=1500, index_interval_bytes=500)
        return [
            *[self._create(topic, small) for topic in (PLAIN, LEFT, RIGHT, GONE)],
            self._create(TABLE, _cleaned(small, "compact")),
            self._create(RECENT, _cleaned(small, "delete")),
            *[self._append] * 4,
            *[self._move] * 2,
            self._abort,
            *[self._upsert] * 8,
            self._clean(TABLE),
            *[self._upsert] * 2,
            *[self._pass] * 4,
            self._clean(RECENT),
            *[self._commit_offset] * 2,
            self._roll,
            self._append,
            self._move,
            self._configure,
            self._delete,
        ]

    def check(self, log: EmbeddedLog) -> None:
        """What was acknowledged is there; of what was not, all or nothing."""
        topics = log.topics()
        if PLAIN in topics:
            plain = PlainCheck()
            plain.follow(log)
            assert plain.following in {self._plain, batch_from(self._plain)[-1] + 1}
        if {LEFT, RIGHT} <= set(topics):
            moved = TransactionCheck()
            moved.follow(log)
            assert moved.done in {self._moved, self._moved + 1}
        if TABLE in topics:
            latest = dict(_keyed(log, TABLE))
            assert latest in (_table(self._put), _table(self._put + 1))
        if RECENT in topics:
            kept = [int(value) for _, value in _keyed(log, RECENT)]
            assert kept == list(range(kept[0], kept[-1] + 1)) if kept else self._recent < 2
            assert not kept or kept[-1] + 1 in {self._recent, self._recent + 1}
        known = log.committed(GROUP).get(TopicPartition(PLAIN, 0), 0)
        assert known in {self._committed, self._committed + 1}

    def check_end(self, log: EmbeddedLog) -> None:
        """Everything was done, once."""
        self.check(log)
        assert log.bounds(PLAIN, 0).end == self._plain
        assert dict(_keyed(log, TABLE)) == _table(10)
        assert [value for _, value in _keyed(log, RECENT)][-1] == b"3"
        assert log.bounds(RECENT, 0).start > 0
        assert GONE not in log.topics()
        assert (self._moved, self._committed) == (3, 2)
        assert log.topic(PLAIN).config.retention == timedelta(days=1)

    def _create(self, topic: str, config: TopicConfig) -> Step:
        def create(log: EmbeddedLog) -> None:
            # A try that failed may have come as far as making the topic.
            if topic not in log.topics():
                log.create_topic(topic, config=config)

        return create

    def _append(self, log: EmbeddedLog) -> None:
        numbers = batch_from(self._plain)
        stamp = WriterStamp(7, 0, self._plain)
        done = log.append(PLAIN, 0, plain_rows(numbers), stamp=stamp)
        assert (done.base_offset, done.last_offset) == (numbers[0], numbers[-1])
        self._plain = numbers[-1] + 1

    def _move(self, log: EmbeddedLog) -> None:
        following = self._moved + 1
        with log.transaction(TRANSACTION_ID) as transaction:
            if int(transaction.note or 0) < following:
                transaction.begin()
                for topic in (LEFT, RIGHT):
                    transaction.append(topic, 0, transaction_rows(following, topic))
                transaction.commit(str(following))
        self._moved = following

    def _abort(self, log: EmbeddedLog) -> None:
        with log.transaction(TRANSACTION_ID) as transaction:
            transaction.begin()
            for topic in (LEFT, RIGHT):
                transaction.append(topic, 0, transaction_rows(self._moved + 1, topic, "abort"))
            transaction.abort()

    def _upsert(self, log: EmbeddedLog) -> None:
        key, value = b"%d" % (self._put % KEYS), b"%d" % self._put
        rows = rows_of_bytes([value * 100], keys=[key])
        log.append(TABLE, 0, rows, stamp=WriterStamp(8, 0, self._put))
        self._put += 1

    def _pass(self, log: EmbeddedLog) -> None:
        rows = rows_of_bytes([b"%d" % self._recent], keys=[b"x" * 1200])
        log.append(RECENT, 0, rows, stamp=WriterStamp(9, 0, self._recent))
        self._recent += 1

    def _clean(self, topic: str) -> Step:
        return lambda log: _ignore(log.clean(topic, include_active=True))

    def _commit_offset(self, log: EmbeddedLog) -> None:
        log.commit(GROUP, {TopicPartition(PLAIN, 0): self._committed + 1})
        self._committed += 1

    def _roll(self, log: EmbeddedLog) -> None:
        log.clean(PLAIN, include_active=True)

    def _configure(self, log: EmbeddedLog) -> None:
        config = log.topic(PLAIN).config.with_settings(retention=timedelta(days=1))
        log.configure_topic(PLAIN, config)

    def _delete(self, log: EmbeddedLog) -> None:
        if GONE in log.topics():
            log.delete_topic(GONE)


def _cleaned(config: TopicConfig, cleanup: Cleanup) -> TopicConfig:
    size = 3_000 if cleanup == "delete" else None
    return config.with_settings(cleanup=cleanup, retention_bytes=size)


def _table(puts: int) -> dict[bytes, bytes]:
    return {b"%d" % (n % KEYS): b"%d" % n * 100 for n in range(puts)}


def _keyed(log: EmbeddedLog, topic: str) -> list[tuple[bytes, bytes]]:
    start = log.bounds(topic, 0).start
    rows = log.read(topic, 0, start, ReadLimit()).rows
    return list(zip(rows["_key"].to_pylist(), rows["value"].to_pylist(), strict=True))


def _ignore(_: object) -> None:
    return
