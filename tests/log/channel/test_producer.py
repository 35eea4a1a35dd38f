from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import ChannelError, TopicError, UsageError
from penstock.log.channel.producer import DirectProducer
from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.record import Record
from penstock.log.sender import Receipt, Sender
from tests.log.channel.kit import files_below, numbered, stored, take, values

ORDERS = [Record("orders", 0, n, 7, b"shop", b"%06d" % n, (("v", b"1"),)) for n in range(5)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with closing(open_log(tmp_path / "durable")) as log:
        log.create_topic("orders")
        yield log


@pytest.fixture
def direct(tmp_path: Path) -> Path:
    return tmp_path / "direct"


def announce_orders(sender: Sender) -> list[Receipt]:
    """A program that does not know by which transport it sends."""
    deliveries = [
        sender.send("orders", value, key=b"shop", timestamp=7, headers=(("v", b"1"),))
        for value in numbered(5)
    ]
    sender.flush()
    return [delivery.result(timeout=20) for delivery in deliveries]


async def announce_one_order(sender: Sender) -> Receipt:
    """A coroutine that does not know by which transport it sends."""
    return await sender.send("orders", b"one", timestamp=7)


def read_orders(reader: Consumer | ChannelReceiver) -> list[Record]:
    """A program that does not know by which transport it reads."""
    orders: list[Record] = []
    while len(orders) < 5:
        orders += reader.poll()
    return orders


def test_one_program_sends_and_one_reads_by_log_and_by_channel(
    direct: Path, log: EmbeddedLog
) -> None:
    with Producer(log) as producer, Consumer(log, "orders", start="earliest") as consumer:
        assert [receipt.offset for receipt in announce_orders(producer)] == [0, 1, 2, 3, 4]
        assert read_orders(consumer) == ORDERS
    with ChannelReceiver(direct, "orders") as receiver, DirectProducer(direct) as producer:
        assert announce_orders(producer) == [Receipt("orders", 0, None, 7)] * 5
        assert read_orders(receiver) == ORDERS
    assert files_below(direct) == set()


def test_one_coroutine_sends_by_log_and_by_channel(direct: Path, log: EmbeddedLog) -> None:
    with Producer(log) as producer:
        assert asyncio.run(announce_one_order(producer)) == Receipt("orders", 0, 0, 7)
    with DirectProducer(direct) as producer:
        assert asyncio.run(announce_one_order(producer)) == Receipt("orders", 0, None, 7)


def test_the_log_keeps_what_the_channel_loses_while_the_consumer_is_offline(
    direct: Path, log: EmbeddedLog
) -> None:
    with DirectProducer(direct) as pushing, Producer(log) as storing:
        announce_orders(pushing)
        announce_orders(storing)
        with ChannelReceiver(direct, "orders") as receiver:
            pushing.send("orders", b"back")
            assert values(take(receiver, 1)) == [b"back"]
            assert receiver.stats.received == 1
        assert pushing.stats["orders"].lost == 5
    assert stored(log, "orders") == numbered(5)


def test_each_topic_has_its_channel(direct: Path) -> None:
    with (
        ChannelReceiver(direct, "a") as a,
        ChannelReceiver(direct, "b") as b,
        DirectProducer(direct, clock=ManualClock(99)) as producer,
    ):
        delivery = producer.send("a", b"for a")
        producer.send("b", b"for b", partition=0)
        assert delivery.done()
        assert delivery.receivers == 1
        assert values(take(a, 1)) == [b"for a"]
        (record,) = take(b, 1)
        assert (record.value, record.timestamp) == (b"for b", 99)


def test_a_full_channel_spills_to_the_topic_of_its_name(direct: Path, log: EmbeddedLog) -> None:
    with (
        ChannelReceiver(direct, "orders", buffer_records=2),
        Producer(log) as later,
        DirectProducer(direct, policy="spill", spill_to=later) as producer,
    ):
        announce_orders(producer)
        assert producer.stats["orders"].spilled == 3
        assert stored(log, "orders") == numbered(3, start=2)


def test_a_second_partition_does_not_exist(direct: Path) -> None:
    with DirectProducer(direct) as producer, pytest.raises(TopicError, match="CHANNEL_PARTITION"):
        producer.send("orders", b"x", partition=1)


def test_spilling_without_a_place_is_refused_before_the_first_record(direct: Path) -> None:
    with pytest.raises(UsageError, match="CHANNEL_POLICY"):
        DirectProducer(direct, policy="spill")


def test_a_closed_producer_refuses_old_and_new_topics(direct: Path) -> None:
    producer = DirectProducer(direct)
    producer.send("old", b"x")
    producer.close()
    producer.close()
    for topic in ("old", "new"):
        with pytest.raises(ChannelError, match="CHANNEL_CLOSED"):
            producer.send(topic, b"x")


def test_a_record_arrives_sooner_by_channel_than_by_log(direct: Path, log: EmbeddedLog) -> None:
    def seconds(sender: Sender, reader: Consumer | ChannelReceiver) -> float:
        started_at = time.perf_counter()
        sender.send("orders", b"now")
        while not reader.poll():
            pass
        return time.perf_counter() - started_at

    with (
        Producer(log, linger=timedelta(0)) as storing,
        Consumer(log, "orders") as consumer,
        ChannelReceiver(direct, "orders") as receiver,
        DirectProducer(direct) as pushing,
    ):
        by_log, by_channel = [], []
        for _ in range(40):
            by_log.append(seconds(storing, consumer))
            by_channel.append(seconds(pushing, receiver))
    assert statistics.median(by_channel) < statistics.median(by_log)
