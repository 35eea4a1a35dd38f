from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.errors import ChannelError, TopicError, UsageError
from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.channel.sender import ChannelSender, Policy, Spill
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.log.record import Record
from tests.log.channel.kit import eventually, numbered, stored, take, values


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with closing(open_log(tmp_path)) as log:
        log.create_topic("later")
        yield log


@pytest.fixture
def producer(log: EmbeddedLog) -> Iterator[Producer]:
    with Producer(log) as producer:
        yield producer


def test_drop_counts_what_a_full_receiver_does_not_get_and_never_waits(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=10) as receiver,
        ChannelSender(tmp_path, "c", policy="drop") as sender,
    ):
        assert [sender.send(value) for value in numbered(25)] == [1] * 10 + [0] * 15
        sender.flush()
        stats = sender.stats
        assert (stats.sent, stats.delivered, stats.dropped, stats.lost) == (25, 10, 15, 0)
        assert eventually(lambda: receiver.stats.dropped == 15)
        assert values(receiver.poll(0)) == numbered(10)


def test_drop_delivers_again_as_soon_as_one_record_was_taken(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=3) as receiver,
        ChannelSender(tmp_path, "c", policy="drop") as sender,
    ):
        for value in numbered(5):
            sender.send(value)
        sender.flush()
        assert values(receiver.poll(0, limit=1)) == numbered(1)
        assert eventually(lambda: sender.send(b"fits") == 1)
        sender.flush()
        assert values(receiver.poll(0)) == [*numbered(2, start=1), b"fits"]
        assert receiver.stats.dropped == sender.stats.dropped


def test_drop_does_not_wait_for_a_stopped_receiver_of_large_records(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_bytes=1_000_000) as receiver,
        ChannelSender(tmp_path, "c", policy="drop") as sender,
    ):
        reached = [sender.send(bytes(300_000)) for _ in range(10)]
        # The last record to be let in may pass the limit, so that one of any size fits.
        assert reached == [1] * 4 + [0] * 6
        assert len(take(receiver, 4)) == 4


def test_a_slow_receiver_does_not_cost_a_fast_one_its_records(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=10) as slow,
        ChannelReceiver(tmp_path, "c", buffer_records=1000) as fast,
        ChannelSender(tmp_path, "c", policy="drop") as sender,
    ):
        for value in numbered(100):
            sender.send(value)
        assert values(take(fast, 100)) == numbered(100)
        assert values(take(slow, 10)) == numbered(10)
        assert sender.stats.dropped == 90


def test_block_keeps_the_sender_within_the_window_and_loses_nothing(tmp_path: Path) -> None:
    window, count = 10, 500
    progress = [0]

    def send_all(sender: ChannelSender) -> None:
        for value in numbered(count):
            sender.send(value)
            progress[0] += 1

    with (
        ChannelReceiver(tmp_path, "c", buffer_records=window) as receiver,
        ChannelSender(tmp_path, "c", policy="block") as sender,
    ):
        thread = threading.Thread(target=send_all, args=(sender,))
        thread.start()
        assert eventually(lambda: progress[0] == window)
        taken: list[Record] = []
        while len(taken) < count:
            taken += receiver.poll(1.0, limit=1)
            assert progress[0] <= len(taken) + window
        thread.join()
        sender.flush()
        assert values(taken) == numbered(count)
        stats = sender.stats
        assert (stats.delivered, stats.dropped, stats.lost) == (count, 0, 0)


def test_block_brings_the_sender_down_to_the_rate_of_the_consumer(tmp_path: Path) -> None:
    pause, count, window = 0.005, 60, 5
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=window) as receiver,
        ChannelSender(tmp_path, "c") as sender,
    ):

        def consume_slowly() -> None:
            for _ in range(count):
                time.sleep(pause)
                take(receiver, 1)

        consumer = threading.Thread(target=consume_slowly)
        consumer.start()
        started_at = time.monotonic()
        for value in numbered(count):
            sender.send(value)
        sending_seconds = time.monotonic() - started_at
        consumer.join()
    assert sending_seconds >= (count - window - 1) * pause


def test_a_sender_that_waits_goes_on_when_its_receiver_leaves(tmp_path: Path) -> None:
    receiver = ChannelReceiver(tmp_path, "c", buffer_records=1)
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"fills the window")
        waiting = threading.Thread(target=sender.send, args=(b"waits",))
        waiting.start()
        assert eventually(lambda: sender.stats.sent == 2 and receiver.stats.received == 1)
        receiver.close()
        waiting.join(20)
        assert not waiting.is_alive()
        stats = sender.stats
        assert (stats.delivered, stats.lost) == (1, 1)


def test_a_sender_that_waits_is_freed_by_closing_it(tmp_path: Path) -> None:
    failures: list[str] = []

    def wait_for_room(sender: ChannelSender) -> None:
        try:
            sender.send(b"waits")
        except ChannelError as error:
            failures.append(error.code)

    with ChannelReceiver(tmp_path, "c", buffer_records=1):
        sender = ChannelSender(tmp_path, "c")
        sender.send(b"fills the window")
        waiting = threading.Thread(target=wait_for_room, args=(sender,))
        waiting.start()
        assert eventually(lambda: sender.stats.sent == 2)
        sender.close()
        waiting.join(20)
    assert failures == ["CHANNEL_CLOSED"]


def test_spill_puts_what_does_not_fit_into_a_topic_in_order(
    tmp_path: Path, log: EmbeddedLog, producer: Producer
) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=10) as receiver,
        ChannelSender(tmp_path, "c", policy="spill", spill_to=Spill(producer, "later")) as sender,
    ):
        for value in numbered(25):
            sender.send(value)
        sender.flush()
        stats = sender.stats
        assert (stats.sent, stats.delivered, stats.spilled, stats.lost) == (25, 10, 15, 0)
        assert values(take(receiver, 10)) == numbered(10)
        assert stored(log, "later") == numbered(15, start=10)
        assert eventually(lambda: receiver.stats.spilled == 15)


def test_spill_goes_back_to_the_channel_when_there_is_room(
    tmp_path: Path, log: EmbeddedLog, producer: Producer
) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=2) as receiver,
        ChannelSender(tmp_path, "c", policy="spill", spill_to=Spill(producer, "later")) as sender,
    ):
        for value in numbered(3):
            sender.send(value)
        sender.flush()
        assert values(receiver.poll(0)) == numbered(2)
        assert eventually(lambda: sender.send(b"direct") == 1)
        assert values(take(receiver, 1)) == [b"direct"]
        assert stored(log, "later")[0] == b"000002"


def test_a_record_two_receivers_cannot_take_is_spilled_once(
    tmp_path: Path, log: EmbeddedLog, producer: Producer
) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=1),
        ChannelReceiver(tmp_path, "c", buffer_records=1),
        ChannelSender(tmp_path, "c", policy="spill", spill_to=Spill(producer, "later")) as sender,
    ):
        assert sender.send(b"fits") == 2
        assert sender.send(b"later") == 0
        assert sender.stats.spilled == 1
    assert stored(log, "later") == [b"later"]


def test_a_spill_that_fails_is_the_caller_s_error_and_not_counted(
    tmp_path: Path, log: EmbeddedLog, producer: Producer
) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=1),
        ChannelSender(
            tmp_path, "c", policy="spill", spill_to=Spill(producer, "no-such-topic")
        ) as sender,
    ):
        sender.send(b"fits")
        with pytest.raises(TopicError, match="TOPIC_MISSING"):
            sender.send(b"does not")
        assert sender.stats.spilled == 0


@pytest.mark.parametrize("policy", ["spil", "spill"])
def test_a_policy_misspelt_or_without_a_place_to_spill_is_refused(
    tmp_path: Path, policy: Policy
) -> None:
    with pytest.raises(UsageError, match="CHANNEL_POLICY"):
        ChannelSender(tmp_path, "c", policy=policy)


def test_a_place_to_spill_without_the_policy_is_refused(tmp_path: Path, producer: Producer) -> None:
    with pytest.raises(UsageError, match="CHANNEL_POLICY"):
        ChannelSender(tmp_path, "c", policy="drop", spill_to=Spill(producer, "later"))
