from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import PenstockError, RecordError, SchemaError, StorageError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.murmur2 import partition_of_key
from penstock.log.open import open_log
from penstock.log.partitioner import CustomPartitioner, Explicit, RoundRobin
from penstock.log.port import Appended, ReadLimit, WriterStamp
from penstock.log.pressure import Pressure, lag_of
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.log.topic import TopicConfig

NO_LINGER = timedelta(0)


@pytest.fixture
def log() -> Iterator[EmbeddedLog]:
    with EmbeddedLog(MemoryStorage()) as log:
        log.create_topic("clicks", partitions=3)
        log.create_topic("one")
        yield log


def _values(log: EmbeddedLog, topic: str, partition: int = 0) -> list[bytes]:
    return list(log.read(topic, partition, 0, ReadLimit()).rows["value"].to_pylist())


def test_records_of_one_key_go_to_one_partition_in_order(log: EmbeddedLog) -> None:
    with Producer(log) as producer:
        for number in range(300):
            producer.send("clicks", b"%d" % number, key=b"user-%d" % (number % 7))
    for user in range(7):
        partition = partition_of_key(b"user-%d" % user, 3)
        rows = log.read("clicks", partition, 0, ReadLimit()).rows.to_pylist()
        mine = [int(row["value"]) for row in rows if row["_key"] == b"user-%d" % user]
        assert mine == list(range(user, 300, 7))


def test_a_delivery_tells_where_the_record_went(log: EmbeddedLog) -> None:
    with Producer(log) as producer:
        first = producer.send("clicks", b"a", partition=2, timestamp=77)
        second = producer.send("clicks", b"b", partition=2)
        receipt = first.result(10)
        assert (receipt.topic, receipt.partition, receipt.offset, receipt.timestamp) == (
            "clicks", 2, 0, 77,
        )  # fmt: skip
        assert second.result(10).offset == 1
        assert first.done()


def test_a_delivery_can_be_awaited(log: EmbeddedLog) -> None:
    async def send() -> int | None:
        with Producer(log) as producer:
            return (await producer.send("one", b"a")).offset

    assert asyncio.run(send()) == 0


def test_keyless_records_spread_evenly_round_robin(log: EmbeddedLog) -> None:
    with Producer(log, partitioner=RoundRobin()) as producer:
        for _ in range(100):
            producer.send("clicks", b"x")
    counts = [log.bounds("clicks", number).end for number in range(3)]
    assert sum(counts) == 100
    assert max(counts) - min(counts) <= 1


def test_a_function_of_the_user_may_choose(log: EmbeddedLog) -> None:
    by_length = CustomPartitioner(lambda key, partitions: len(key or b"") % partitions)
    with Producer(log, partitioner=by_length) as producer:
        assert producer.send("clicks", b"x", key=b"ab").result(10).partition == 2


def test_the_partitioner_is_the_producers_and_the_topic_knows_nothing_of_it(
    log: EmbeddedLog,
) -> None:
    before = log.topic("clicks")
    chosen = []
    for wanted in range(3):
        with Producer(log, partitioner=Explicit(wanted)) as producer:
            chosen.append(producer.send("clicks", b"x", key=b"k").result(10).partition)
    assert chosen == [0, 1, 2]
    assert log.topic("clicks") == before
    assert not [name for name in TopicConfig.__dataclass_fields__ if "partitioner" in name]


def test_whole_tables_are_sent_after_what_was_sent_before(log: EmbeddedLog) -> None:
    with Producer(log, linger=timedelta(hours=1)) as producer:
        producer.send("one", b"first")
        producer.send_rows("one", pa.table({"value": [b"second", b"third"]}))
        producer.send_rows(
            "clicks", pa.table({"value": [b"x"] * 30, "_key": [b"%d" % n for n in range(30)]})
        )
    assert _values(log, "one") == [b"first", b"second", b"third"]
    assert sum(log.bounds("clicks", number).end for number in range(3)) == 30


def test_many_threads_lose_nothing(log: EmbeddedLog) -> None:
    with Producer(log) as producer:
        threads = [
            threading.Thread(target=lambda: [producer.send("one", b"x") for _ in range(500)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert log.bounds("one", 0).end == producer.stats.acknowledged == 2000


@pytest.mark.parametrize("value", ["text", 5, {"a": 1}])
def test_a_value_of_the_wrong_kind_is_refused_at_once(log: EmbeddedLog, value: object) -> None:
    with Producer(log) as producer, pytest.raises(SchemaError, match="VALUE_KIND"):
        producer.send("one", value)  # type: ignore[arg-type]  # the mistake under test


def test_typed_rows_are_checked_and_stored(log: EmbeddedLog) -> None:
    log.create_topic("people", schema=pa.schema([("id", pa.int64()), ("name", pa.string())]))
    with Producer(log) as producer:
        producer.send("people", {"id": 1, "name": "a"}, key=b"1")
        producer.send("people", None, key=b"1")
        with pytest.raises(SchemaError, match="COLUMN_UNKNOWN"):
            producer.send("people", {"idd": 1})
        with pytest.raises(SchemaError, match="VALUE_KIND"):
            producer.send("people", b"bytes")
        producer.flush()
        wrong = producer.send("people", {"id": "one"})
        with pytest.raises(SchemaError, match="COLUMN_TYPE"):
            wrong.result(10)
    rows = log.read("people", 0, 0, ReadLimit()).rows.to_pylist()
    assert [(row["id"], row["_deleted"]) for row in rows] == [(1, False), (None, True)]


def test_flush_raises_what_nobody_has_asked_about(log: EmbeddedLog) -> None:
    log.create_topic("numbers", schema=pa.schema([("id", pa.int64())]))
    with Producer(log) as producer:
        seen = producer.send("numbers", {"id": "one"})
        with pytest.raises(SchemaError):
            seen.result(10)
        producer.flush()
        producer.send("numbers", {"id": "two"})
        with pytest.raises(SchemaError, match="COLUMN_TYPE"):
            producer.flush()
        producer.send("numbers", {"id": 3})
    assert log.bounds("numbers", 0).end == 1


def test_a_closed_producer_refuses(log: EmbeddedLog) -> None:
    producer = Producer(log)
    producer.close()
    producer.close()
    with pytest.raises(UsageError, match="PRODUCER_CLOSED"):
        producer.send("one", b"x")


def test_an_unknown_topic_is_refused_at_once(log: EmbeddedLog) -> None:
    with Producer(log) as producer, pytest.raises(PenstockError, match="TOPIC_MISSING"):
        producer.send("two", b"x")


class _Failing(EmbeddedLog):
    """Appends land, but the producer is told otherwise for a while."""

    failures = 0
    lands = True

    @override
    def append(
        self, topic: str, partition: int, rows: pa.Table, *, stamp: WriterStamp | None = None
    ) -> Appended:
        done = None
        if self.lands or not self.failures:
            done = super().append(topic, partition, rows, stamp=stamp)
        if self.failures:
            self.failures -= 1
            raise StorageError("STORAGE_FAILED", "pulled the cable")
        assert done is not None
        return done


@pytest.mark.parametrize("lands", [True, False])
def test_a_retry_after_an_uncertain_append_writes_once(lands: bool) -> None:
    log = _Failing(MemoryStorage())
    log.create_topic("one")
    log.failures, log.lands = 2, lands
    with Producer(log, linger=NO_LINGER) as producer:
        producer.send("one", b"a").result(10)
        producer.send("one", b"b").result(10)
    assert _values(log, "one") == [b"a", b"b"]


def test_after_a_failed_append_other_records_are_not_taken_for_its_repeat() -> None:
    log = _Failing(MemoryStorage())
    log.create_topic("one")
    with Producer(log, linger=NO_LINGER) as producer:
        log.failures = 3
        lost = producer.send("one", b"lost or not")
        with pytest.raises(StorageError):
            lost.result(10)
        producer.send("one", b"other").result(10)
    assert _values(log, "one")[-1] == b"other"


class TestPressure:
    def test_an_overload_stays_within_the_buffer_and_loses_nothing(self, log: EmbeddedLog) -> None:
        pressure = Pressure(buffer_bytes=100_000)
        most = 0
        with Producer(log, pressure=pressure, linger=NO_LINGER) as producer:
            for number in range(3_000):
                producer.send("one", b"%04d" % number * 250)
                most = max(most, producer._waiting_bytes)
            assert producer.stats.blocked_seconds > 0
        assert most <= 100_000
        assert producer.stats.acknowledged == log.bounds("one", 0).end == 3_000
        rows = log.read("one", 0, 0, ReadLimit(bytes=10**9)).rows
        assert [int(value[:4]) for value in rows["value"].to_pylist()] == [*range(3_000)]

    def test_block_slows_the_sender_to_the_pace_of_the_group(self, log: EmbeddedLog) -> None:
        place = TopicPartition("one", 0)
        log.commit("slow", {place: 0})
        pressure = Pressure(group="slow", max_lag=10, buffer_bytes=400)
        produced: list[int] = []

        def produce() -> None:
            with Producer(log, pressure=pressure, linger=NO_LINGER) as producer:
                for number in range(60):
                    producer.send("one", b"x" * 20)
                    produced.append(number)

        thread = threading.Thread(target=produce)
        thread.start()
        most_behind, done = 0, 0
        while done < 60:
            log.wait({place: done}, 10)
            most_behind = max(most_behind, lag_of(log, "slow", "one"))
            done = min(done + 5, log.bounds("one", 0).end)
            log.commit("slow", {place: done})
        thread.join()
        assert log.bounds("one", 0).end == 60
        assert most_behind <= 10 + 2 * 400 // 44

    def test_block_gives_up_after_its_timeout(self, log: EmbeddedLog) -> None:
        log.commit("stuck", {TopicPartition("one", 0): 0})
        pressure = Pressure(
            group="stuck", max_lag=-1, buffer_bytes=200, timeout=timedelta(milliseconds=20)
        )
        producer = Producer(log, pressure=pressure, linger=NO_LINGER)
        with pytest.raises(RecordError, match="BUFFER_FULL"):
            [producer.send("one", b"x" * 20) for _ in range(100)]
        assert producer.stats.blocked_seconds > 0
        log.commit("stuck", {TopicPartition("one", 0): 10**6})
        producer._gauge._pressure = Pressure()
        producer.close()

    def test_drop_loses_and_counts(self, log: EmbeddedLog) -> None:
        place = TopicPartition("one", 0)
        log.commit("slow", {place: 0})
        pressure = Pressure(policy="drop", group="slow", max_lag=0, buffer_bytes=500)
        producer = Producer(log, pressure=pressure, linger=NO_LINGER)
        producer.send("one", b"first").result(10)
        deliveries = [producer.send("one", b"x" * 20) for _ in range(100)]
        assert producer.stats.dropped > 0
        with pytest.raises(RecordError, match="RECORD_DROPPED"):
            deliveries[-1].result(10)
        log.commit("slow", {place: 1})
        while log.bounds("one", 0).end < 101 - producer.stats.dropped:
            log.commit("slow", {place: log.bounds("one", 0).end})
        producer.close()
        assert log.bounds("one", 0).end == 101 - producer.stats.dropped

    def test_spill_keeps_all_for_later_and_in_order(self, log: EmbeddedLog) -> None:
        place = TopicPartition("one", 0)
        log.commit("slow", {place: 0})
        pressure = Pressure(policy="spill", group="slow", max_lag=5)
        with Producer(log, pressure=pressure, linger=NO_LINGER) as producer:
            for number in range(50):
                producer.send("one", b"%d" % number).result(10)
            assert producer.stats.spilled > 0
            assert lag_of(log, "slow", "one") <= 7
            log.commit("slow", {place: 10**6})
            for number in (50, 51):
                producer._gauge._known.clear()
                producer.send("one", b"%d" % number).result(10)
        assert producer.stats.drained == producer.stats.spilled
        assert _values(log, "one") == [b"%d" % number for number in range(52)]


def test_a_wait_wakes_on_an_append_of_another_process(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic("one")
        code = (
            "import sys; from penstock.log.open import open_log;"
            "from penstock.log.rows import rows_of_bytes;"
            "log = open_log(sys.argv[1]); sys.stdin.readline();"
            "log.append('one', 0, rows_of_bytes([b'hello']))"
        )
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE)
        assert not log.wait({TopicPartition("one", 0): 0}, 0.01)
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
        assert log.wait({TopicPartition("one", 0): 0}, 30)
        assert child.wait(30) == 0
        assert _values(log, "one") == [b"hello"]
        child.stdin.close()
