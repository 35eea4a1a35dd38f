from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.clock import ManualClock
from penstock.errors import OffsetError, TopicError, UsageError
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.record import Record, TopicPartition
from penstock.log.rows import rows_of_bytes

P0 = TopicPartition("orders", 0)
P1 = TopicPartition("orders", 1)
SHORTLY = timedelta(milliseconds=1)


@pytest.fixture
def log() -> Iterator[EmbeddedLog]:
    with EmbeddedLog(MemoryStorage(), ManualClock(1_000)) as log:
        log.create_topic("orders", partitions=2)
        yield log


def fill(log: EmbeddedLog, partition: int, *values: int, timestamp: int | None = None) -> None:
    rows = rows_of_bytes(
        [str(value).encode() for value in values],
        timestamps=None if timestamp is None else [timestamp] * len(values),
    )
    log.append("orders", partition, rows)


def numbers(records: list[Record]) -> list[int]:
    return [int(record.value) for record in records if isinstance(record.value, bytes)]


def test_every_partition_of_a_topic_is_read_in_its_order(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2, 3)
    fill(log, 1, 10, 20)
    with Consumer(log, "orders") as consumer:
        assert consumer.assignment == {P0, P1}
        found = consumer.poll()
    assert numbers([r for r in found if r.partition == 0]) == [1, 2, 3]
    assert numbers([r for r in found if r.partition == 1]) == [10, 20]
    assert [r.offset for r in found if r.partition == 0] == [0, 1, 2]


def test_a_record_comes_with_key_time_and_headers(log: EmbeddedLog) -> None:
    headers = [(("trace", b"abc"), ("empty", None)), ()]
    rows = rows_of_bytes([b"v", None], keys=[b"k", None], timestamps=[5, 6], headers=headers)
    log.append("orders", 0, rows)
    with Consumer(log, "orders") as consumer:
        assert consumer.poll() == [
            Record("orders", 0, 0, 5, b"k", b"v", (("trace", b"abc"), ("empty", None))),
            Record("orders", 0, 1, 6, None, None, ()),
        ]


def test_a_typed_topic_gives_mappings_and_none_for_tombstones(log: EmbeddedLog) -> None:
    schema = pa.schema([pa.field("name", pa.string()), pa.field("count", pa.int64())])
    log.create_topic("typed", schema=schema)
    rows = pa.table(
        {
            "name": ["a", "b", None],
            "count": pa.array([1, None, None], pa.int64()),
            "_deleted": [False, False, True],
        }
    )
    log.append("typed", 0, rows)
    with Consumer(log, "typed") as consumer:
        values = [record.value for record in consumer.poll()]
    assert values == [{"name": "a", "count": 1}, {"name": "b", "count": None}, None]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", [1, 2, 3, 4]),
        ("latest", []),
        (2, [3, 4]),
        (datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), [3, 4]),
        (datetime(1970, 1, 1, 0, 0, 9, tzinfo=UTC), []),
    ],
)
def test_a_consumer_chooses_where_to_begin(
    log: EmbeddedLog, start: int, expected: list[int]
) -> None:
    fill(log, 0, 1, 2, timestamp=1_000)
    fill(log, 0, 3, 4, timestamp=2_000)
    with Consumer(log, partitions=[P0], start=start) as consumer:
        assert numbers(consumer.poll(0)) == expected
        fill(log, 0, 5)
        assert numbers(consumer.poll(0)) == [5]


def test_a_time_without_a_zone_is_refused(log: EmbeddedLog) -> None:
    with pytest.raises(UsageError, match="TIME_ZONE_MISSING"):
        Consumer(log, "orders", start=datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake itself


def test_a_poll_gives_at_most_what_was_asked_for_and_partitions_take_turns(
    log: EmbeddedLog,
) -> None:
    fill(log, 0, *range(10))
    fill(log, 1, *range(10))
    with Consumer(log, "orders", max_poll_records=4) as consumer:
        polls = [consumer.poll(0) for _ in range(5)]
    assert [len(found) for found in polls] == [4, 4, 4, 4, 4]
    assert [{record.partition for record in found} for found in polls[:2]] == [{0}, {1}]
    assert numbers([r for found in polls for r in found if r.partition == 0]) == [*range(10)]


def test_a_batch_is_the_rows_of_one_partition(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2, 3)
    fill(log, 1, 4)
    with Consumer(log, "orders") as consumer:
        first, second = consumer.poll_batch(0), consumer.poll_batch(0)
        assert consumer.poll_batch(0) is None
        assert first is not None
        assert second is not None
        assert (first.topic, first.partition, first.next_offset) == ("orders", 0, 3)
        assert first.rows.column("value").to_pylist() == [b"1", b"2", b"3"]
        assert (second.partition, second.rows.num_rows) == (1, 1)
        assert consumer.position(P0) == 3


def test_a_batch_after_a_poll_begins_where_the_poll_ended(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2, 3)
    with Consumer(log, partitions=[P0], max_poll_records=1) as consumer:
        consumer.poll()
        batch = consumer.poll_batch()
    assert batch is not None
    assert batch.rows.column("value").to_pylist() == [b"2", b"3"]


def test_iteration_ends_after_a_number_or_after_silence(log: EmbeddedLog) -> None:
    fill(log, 0, *range(7))
    with Consumer(log, partitions=[P0], max_poll_records=2) as consumer:
        assert numbers(list(consumer.records(max_records=3))) == [0, 1, 2]
        assert numbers(list(consumer.records(idle_timeout=SHORTLY))) == [3, 4, 5, 6]
        assert list(consumer.records(max_records=0)) == []


def test_the_position_follows_an_iteration_record_by_record(log: EmbeddedLog) -> None:
    fill(log, 0, *range(5))
    with Consumer(log, partitions=[P0]) as consumer:
        for record in consumer:
            assert consumer.position(P0) == record.offset + 1
            if record.offset == 2:
                break
        assert numbers(consumer.poll()) == [3, 4]


def test_a_seek_during_an_iteration_takes_effect_at_once(log: EmbeddedLog) -> None:
    fill(log, 0, *range(5))
    seen = []
    with Consumer(log, partitions=[P0]) as consumer:
        for record in consumer.records(max_records=6):
            seen.append(record.offset)
            if len(seen) == 3:
                consumer.seek(P0, 0)
    assert seen == [0, 1, 2, 0, 1, 2]


def test_a_poll_during_an_iteration_takes_its_records_from_it(log: EmbeddedLog) -> None:
    fill(log, 0, *range(6))
    with Consumer(log, partitions=[P0]) as consumer:
        iteration = iter(consumer.records(idle_timeout=SHORTLY))
        assert numbers([next(iteration)]) == [0]
        assert numbers(consumer.poll()) == [1, 2, 3, 4, 5]
        assert list(iteration) == []


def test_a_paused_partition_waits_for_its_resumption(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2)
    fill(log, 1, 3)
    with Consumer(log, "orders") as consumer:
        consumer.pause(P0)
        assert numbers(consumer.poll(0)) == [3]
        consumer.pause(P1)
        assert consumer.poll(0.01) == []
        consumer.resume(P0)
        assert numbers(consumer.poll(0)) == [1, 2]


def test_a_partition_paused_during_an_iteration_stops_there(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2, 3)
    with Consumer(log, partitions=[P0]) as consumer:
        for _ in consumer.records(idle_timeout=SHORTLY):
            consumer.pause(P0)
        assert consumer.position(P0) == 1


def test_seeking_by_end_beginning_and_time(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2, timestamp=1_000)
    fill(log, 0, 3, timestamp=2_000)
    with Consumer(log, partitions=[P0]) as consumer:
        consumer.seek_to_end()
        assert consumer.poll(0) == []
        consumer.seek_to_beginning(P0)
        assert numbers(consumer.poll(0)) == [1, 2, 3]
        consumer.seek_to_time(datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC))
        assert numbers(consumer.poll(0)) == [3]


def test_the_lag_is_what_is_still_to_be_read(log: EmbeddedLog) -> None:
    fill(log, 0, *range(9))
    with Consumer(log, "orders", max_poll_records=4) as consumer:
        assert consumer.lag() == {P0: 9, P1: 0}
        consumer.poll()
        assert consumer.lag() == {P0: 5, P1: 0}


def test_an_offset_that_is_gone_follows_the_policy(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2)
    with Consumer(log, partitions=[P0], start=99) as consumer:
        assert numbers(consumer.poll(0)) == [1, 2]
    with Consumer(log, partitions=[P0], start=99, out_of_range="latest") as consumer:
        assert consumer.poll(0) == []
        assert consumer.position(P0) == 2
    with Consumer(log, partitions=[P0], start=99, out_of_range="error") as consumer:
        with pytest.raises(OffsetError, match="OFFSET_RANGE"):
            consumer.poll(0)
        consumer.seek(P0, 1)
        assert numbers(consumer.poll(0)) == [2]


def test_records_of_an_aborted_transaction_are_passed_over(log: EmbeddedLog) -> None:
    fill(log, 0, 1)
    with log.transaction("t") as transaction:
        transaction.begin()
        transaction.append("orders", 0, rows_of_bytes([b"66", b"67"]))
        transaction.abort()
    fill(log, 0, 2)
    with Consumer(log, partitions=[P0]) as consumer:
        assert numbers(consumer.poll(0)) == [1, 2]
        assert consumer.lag() == {P0: 0}


def test_an_open_transaction_is_seen_only_by_those_who_ask(log: EmbeddedLog) -> None:
    with (
        log.transaction("t") as transaction,
        Consumer(log, partitions=[P0]) as careful,
        Consumer(log, partitions=[P0], isolation="uncommitted") as curious,
    ):
        transaction.begin()
        transaction.append("orders", 0, rows_of_bytes([b"1"]))
        assert numbers(curious.poll(0)) == [1]
        assert careful.poll(0) == []
        transaction.commit()
        assert numbers(careful.poll()) == [1]


def test_a_waiting_poll_wakes_when_a_record_arrives(log: EmbeddedLog) -> None:
    with Consumer(log, "orders") as consumer:
        later = threading.Timer(0.05, fill, (log, 1, 7))
        later.start()
        assert numbers(consumer.poll(30)) == [7]
        later.join()


def test_a_waiting_poll_of_a_group_wakes_too(log: EmbeddedLog) -> None:
    with Consumer(log, "orders", group="billing") as consumer:
        later = threading.Timer(0.05, fill, (log, 1, 7))
        later.start()
        assert numbers(consumer.poll(30)) == [7]
        later.join()


def test_offsets_kept_by_the_program_resume_after_a_restart(log: EmbeddedLog) -> None:
    fill(log, 0, *range(6))
    with Consumer(log, partitions=[P0], max_poll_records=4) as consumer:
        consumer.poll()
        mine = consumer.position(P0)
    assert log.groups() == ()
    with Consumer(log, partitions=[P0]) as consumer:
        consumer.seek(P0, mine)
        assert numbers(consumer.poll()) == [4, 5]


def test_without_a_group_there_is_nowhere_to_commit(log: EmbeddedLog) -> None:
    fill(log, 0, 1)
    with Consumer(log, "orders") as consumer:
        consumer.poll()
        with pytest.raises(UsageError, match="CONSUMER_WITHOUT_GROUP"):
            consumer.commit()
        assert consumer.committed() == {}


def test_given_partitions_are_read_alone_and_stored_under_the_group(log: EmbeddedLog) -> None:
    fill(log, 0, *range(6))
    with Consumer(log, partitions=[P0], group="billing", max_poll_records=4) as consumer:
        consumer.poll()
    assert log.committed("billing") == {P0: 4}
    with Consumer(log, partitions=[P0], group="billing") as consumer:
        assert numbers(consumer.poll()) == [4, 5]
        consumer.commit({P0: 1})
        assert consumer.committed() == {P0: 1}
        consumer.commit()
        assert consumer.committed() == {P0: 6}


def test_what_cannot_be_read_is_refused(log: EmbeddedLog) -> None:
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        Consumer(log, "odrers")
    with pytest.raises(TopicError, match="PARTITION_RANGE"):
        Consumer(log, partitions=[TopicPartition("orders", 2)])
    with pytest.raises(UsageError, match="CONSUMER_TOPICS"):
        Consumer(log)
    with pytest.raises(UsageError, match="CONSUMER_TOPICS"):
        Consumer(log, "orders", partitions=[P0])


def test_a_partition_of_somebody_else_is_refused(log: EmbeddedLog) -> None:
    with Consumer(log, partitions=[P0]) as consumer:
        calls: list[Callable[[], object]] = [
            lambda: consumer.seek(P1, 0),
            lambda: consumer.position(P1),
            lambda: consumer.pause(P1),
        ]
        for call in calls:
            with pytest.raises(UsageError, match="PARTITION_NOT_ASSIGNED"):
                call()


def test_a_closed_consumer_refuses_and_can_be_closed_again(log: EmbeddedLog) -> None:
    consumer = Consumer(log, "orders")
    consumer.close()
    consumer.close()
    assert consumer.assignment == frozenset()
    assert list(consumer) == []
    for call in (consumer.poll, consumer.poll_batch, consumer.commit):
        with pytest.raises(UsageError, match="CONSUMER_CLOSED"):
            call()


def test_closing_from_another_thread_ends_an_iteration(log: EmbeddedLog) -> None:
    for group in (None, "billing"):
        consumer = Consumer(log, "orders", group=group)
        later = threading.Timer(0.05, consumer.close)
        later.start()
        assert list(consumer) == []
        later.join()


def test_records_can_be_awaited(log: EmbeddedLog) -> None:
    fill(log, 0, 1, 2)

    async def read() -> list[Record]:
        found = []
        async with Consumer(log, partitions=[P0]) as consumer:
            async for record in consumer:
                found.append(record)
                assert consumer.position(P0) == record.offset + 1
                if len(found) == 2:
                    asyncio.get_running_loop().call_later(0.01, fill, log, 0, 3)
                if len(found) == 3:
                    break
        return found

    assert numbers(asyncio.run(read())) == [1, 2, 3]


def test_a_cancelled_wait_loses_no_record(log: EmbeddedLog) -> None:
    async def read() -> list[int]:
        async with Consumer(log, partitions=[P0]) as consumer:

            async def first() -> Record:
                async for record in consumer:
                    return record
                raise AssertionError

            waiting = asyncio.create_task(first())
            await asyncio.sleep(0.01)
            waiting.cancel()
            fill(log, 0, 1)
            await asyncio.wait([waiting])
            return numbers([await first()])

    assert asyncio.run(read()) == [1]


READS = st.lists(
    st.tuples(st.sampled_from(["append", "poll", "batch", "iterate", "again"]), st.integers(1, 7)),
    max_size=25,
)


@given(READS)
def test_any_mixture_of_reads_gives_every_record_once_and_in_order(
    reads: list[tuple[str, int]],
) -> None:
    with EmbeddedLog(MemoryStorage()) as log:
        log.create_topic("orders", partitions=2)
        written = 0
        seen: dict[int, list[int]] = {0: [], 1: []}
        consumer = Consumer(log, "orders", max_poll_records=5, fetch_bytes=300)
        for action, count in [*reads, ("iterate", 1000)]:
            if action == "append":
                fill(log, count % 2, *range(written, written + count))
                written += count
            elif action == "again":
                place = TopicPartition("orders", count % 2)
                consumer.seek(place, consumer.position(place) // 2)
                del seen[place.partition][consumer.position(place) :]
            else:
                for partition, value in _read(consumer, action, count):
                    seen[partition].append(value)
        consumer.close()
        for partition in (0, 1):
            assert seen[partition] == sorted(seen[partition])
        assert sorted(seen[0] + seen[1]) == [*range(written)]


def _read(consumer: Consumer, action: str, count: int) -> list[tuple[int, int]]:
    if action == "poll":
        found = consumer.poll(0)
    elif action == "iterate":
        found = list(islice(consumer.records(idle_timeout=timedelta(0)), count))
    else:
        batch = consumer.poll_batch(0)
        values = [] if batch is None else batch.rows.column("value").to_pylist()
        return [(batch.partition, int(value)) for value in values if batch is not None]
    return [(record.partition, int(record.value)) for record in found]  # type: ignore[arg-type]  # bytes
