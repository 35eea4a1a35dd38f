from __future__ import annotations

from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import ChannelError, TopicError, UsageError
from penstock.log.channel.producer import DirectProducer
from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.open import open_log
from penstock.log.sender import Receipt, Sender
from tests.log.channel.kit import LogSender, files_below, numbered, stored, take, values


def announce_orders(sender: Sender) -> list[Receipt]:
    """The program under test: it does not know by which transport it sends."""
    deliveries = [
        sender.send("orders", value, key=b"shop", timestamp=7, headers=(("v", b"1"),))
        for value in numbered(5)
    ]
    sender.flush()
    return [delivery.result(timeout=20) for delivery in deliveries]


def test_one_program_sends_by_log_and_by_channel(tmp_path: Path) -> None:
    log = open_log(tmp_path / "durable")
    log.create_topic("orders")
    assert [receipt.offset for receipt in announce_orders(LogSender(log))] == [0, 1, 2, 3, 4]
    assert stored(log, "orders") == numbered(5)

    direct = tmp_path / "direct"
    with ChannelReceiver(direct, "orders") as receiver, DirectProducer(direct) as producer:
        assert announce_orders(producer) == [Receipt("orders", 0, None, 7)] * 5
        records = take(receiver, 5)
    assert values(records) == numbered(5)
    assert {(record.key, record.headers) for record in records} == {(b"shop", (("v", b"1"),))}
    assert files_below(direct) == set()


def test_the_log_keeps_what_the_channel_loses_while_the_consumer_is_offline(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    log.create_topic("orders")
    with DirectProducer(tmp_path) as producer:
        announce_orders(producer)
        announce_orders(LogSender(log))
        with ChannelReceiver(tmp_path, "orders") as receiver:
            producer.send("orders", b"back")
            assert values(take(receiver, 1)) == [b"back"]
            assert receiver.stats.received == 1
        assert producer.stats["orders"].lost == 5
    assert len(stored(log, "orders")) == 5


def test_each_topic_has_its_channel(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "a") as a,
        ChannelReceiver(tmp_path, "b") as b,
        DirectProducer(tmp_path, clock=ManualClock(99)) as producer,
    ):
        delivery = producer.send("a", b"for a")
        producer.send("b", b"for b", partition=0)
        assert delivery.done()
        assert delivery.receivers == 1
        assert values(take(a, 1)) == [b"for a"]
        (record,) = take(b, 1)
        assert (record.value, record.timestamp) == (b"for b", 99)


def test_a_full_channel_spills_to_the_topic_of_its_name(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.create_topic("orders")
    with (
        ChannelReceiver(tmp_path, "orders", buffer_records=2),
        DirectProducer(tmp_path, policy="spill", spill_to=LogSender(log)) as producer,
    ):
        announce_orders(producer)
        assert producer.stats["orders"].spilled == 3
    assert stored(log, "orders") == numbered(3, start=2)


def test_a_second_partition_does_not_exist(tmp_path: Path) -> None:
    with DirectProducer(tmp_path) as producer, pytest.raises(TopicError, match="CHANNEL_PARTITION"):
        producer.send("orders", b"x", partition=1)


def test_spilling_without_a_place_is_refused_before_the_first_record(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="CHANNEL_POLICY"):
        DirectProducer(tmp_path, policy="spill")


def test_a_closed_producer_refuses_old_and_new_topics(tmp_path: Path) -> None:
    producer = DirectProducer(tmp_path)
    producer.send("old", b"x")
    producer.close()
    producer.close()
    for topic in ("old", "new"):
        with pytest.raises(ChannelError, match="CHANNEL_CLOSED"):
            producer.send(topic, b"x")
