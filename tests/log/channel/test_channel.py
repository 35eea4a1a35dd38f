from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import ChannelError, RecordError, UsageError
from penstock.log.channel.address import channel_directory
from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.channel.sender import ChannelSender
from penstock.log.record import Record
from tests.log.channel.kit import eventually, files_below, numbered, take, values
from tests.log.channel.processes import next_line, receiver_process


def test_a_record_is_pushed_whole_and_numbered_by_arrival(tmp_path: Path) -> None:
    clock = ManualClock(1_700_000_000_000)
    with (
        ChannelReceiver(tmp_path, "c") as receiver,
        ChannelSender(tmp_path, "c", clock=clock) as sender,
    ):
        sender.send(b"value", key=b"key", timestamp=5, headers=(("h", b"1"), ("n", None)))
        sender.send(None)
        assert take(receiver, 2) == [
            Record("c", 0, 0, 5, b"key", b"value", (("h", b"1"), ("n", None))),
            Record("c", 0, 1, 1_700_000_000_000, None, None, ()),
        ]


def test_records_reach_another_process_and_no_log_is_written(tmp_path: Path) -> None:
    with (
        receiver_process(tmp_path, "c", expected=4) as process,
        ChannelSender(tmp_path, "c") as sender,
    ):
        for value in (b"one", b"two", b"three"):
            assert sender.send(value) == 1
        assert [next_line(process) for _ in range(3)] == ["one", "two", "three"]
        assert files_below(tmp_path) == {"channels"}
        sender.send(b"enough")
        assert process.wait() == 0
        assert files_below(tmp_path) == set()


def test_what_is_sent_while_the_consumer_is_offline_is_missing(tmp_path: Path) -> None:
    with ChannelSender(tmp_path, "c") as sender:
        with ChannelReceiver(tmp_path, "c") as receiver:
            sender.send(b"before")
            assert values(take(receiver, 1)) == [b"before"]
        assert [sender.send(b"missing") for _ in range(5)] == [0] * 5
        assert sender.stats.lost == 5
        with ChannelReceiver(tmp_path, "c") as receiver:
            sender.send(b"after")
            assert values(take(receiver, 1)) == [b"after"]
            assert receiver.stats.received == 1
        sender.send(b"missing")
        assert sender.stats.lost == 6


def test_every_receiver_online_gets_a_copy(tmp_path: Path) -> None:
    sent = numbered(500)
    receivers = [ChannelReceiver(tmp_path, "c") for _ in range(3)]
    with ChannelSender(tmp_path, "c") as sender:
        assert {sender.send(value) for value in sent} == {3}
        assert [values(take(receiver, 500)) for receiver in receivers] == [sent] * 3
        sender.flush()
        assert sender.stats.delivered == 1500
        assert sender.stats.sent == 500
    for receiver in receivers:
        receiver.close()


def test_a_receiver_is_found_by_the_very_next_send(tmp_path: Path) -> None:
    with ChannelSender(tmp_path, "c") as sender:
        for round_number in range(30):
            sender.send(b"nobody")
            with ChannelReceiver(tmp_path, "c") as receiver:
                assert sender.send(b"%d" % round_number) == 1
                assert values(take(receiver, 1)) == [b"%d" % round_number]


def test_channels_are_apart(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "a") as a, ChannelReceiver(tmp_path, "b") as b:
        with ChannelSender(tmp_path, "a") as sender:
            sender.send(b"for a")
            assert values(take(a, 1)) == [b"for a"]
        assert b.stats.received == 0


def test_the_records_of_each_of_many_senders_keep_their_order(tmp_path: Path) -> None:
    def send_all(key: bytes) -> None:
        with ChannelSender(tmp_path, "c") as sender:
            for value in numbered(300):
                sender.send(value, key=key)

    with ChannelReceiver(tmp_path, "c", buffer_records=50) as receiver:
        threads = [threading.Thread(target=send_all, args=(b"%d" % n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        records = take(receiver, 1200)
        for thread in threads:
            thread.join()
    assert [record.offset for record in records] == list(range(1200))
    for number in range(4):
        mine = [record for record in records if record.key == b"%d" % number]
        assert values(mine) == numbered(300)


def test_threads_may_share_a_sender(tmp_path: Path) -> None:
    with (
        ChannelReceiver(tmp_path, "c", buffer_records=20) as receiver,
        ChannelSender(tmp_path, "c") as sender,
    ):

        def send_all(key: bytes) -> None:
            for value in numbered(200):
                sender.send(value, key=key)

        threads = [threading.Thread(target=send_all, args=(b"%d" % n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        records = take(receiver, 600)
        for thread in threads:
            thread.join()
        for number in range(3):
            mine = [record for record in records if record.key == b"%d" % number]
            assert values(mine) == numbered(200)
        assert sender.stats.lost == 0


def test_large_records_pass_through_small_sockets(tmp_path: Path) -> None:
    large = [bytes([number]) * 3_000_000 for number in range(5)]
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        for value in large:
            sender.send(value)
        assert values(take(receiver, 5)) == large


def test_poll_gives_up_after_its_timeout_and_gives_no_more_than_its_limit(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        assert receiver.poll(0) == []
        assert receiver.poll(0.01) == []
        for value in numbered(5):
            sender.send(value)
        sender.flush()
        assert values(receiver.poll(0, limit=2)) == numbered(2)
        assert values(receiver.poll(0)) == numbered(3, start=2)


def test_flush_returns_when_all_has_arrived_though_nobody_polls(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        for value in numbered(1000):
            sender.send(value)
        sender.flush()
        assert receiver.stats.buffered == 1000
        assert sender.stats.delivered == 1000
        assert sender.stats.in_flight == 0


def test_the_end_of_a_burst_does_not_wait_for_the_next_send(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        for value in numbered(100):
            sender.send(value)
        assert values(take(receiver, 100)) == numbered(100)


def test_iteration_ends_when_the_receiver_is_closed_and_gives_what_had_come(
    tmp_path: Path,
) -> None:
    receiver = ChannelReceiver(tmp_path, "c")
    seen: list[Record] = []
    consumer = threading.Thread(target=lambda: seen.extend(receiver))
    with ChannelSender(tmp_path, "c") as sender:
        for value in numbered(10):
            sender.send(value)
        sender.flush()
        consumer.start()
        receiver.close()
        consumer.join()
    assert values(seen) == numbered(10)
    with pytest.raises(ChannelError, match="CHANNEL_CLOSED"):
        receiver.poll(0)
    receiver.close()


def test_an_event_loop_goes_on_while_it_awaits_records(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        seen: list[Record] = []
        with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:

            async def consume() -> None:
                seen.extend([record async for record in receiver])

            consumer = asyncio.create_task(consume())
            for value in numbered(20):
                sender.send(value)
                await asyncio.sleep(0)
            while receiver.stats.buffered or receiver.stats.received < 20:
                await asyncio.sleep(0.001)
            receiver.close()
            await consumer
        return values(seen)

    assert asyncio.run(scenario()) == numbered(20)


def test_a_loop_that_ended_while_it_awaited_does_not_hurt_the_receiver(tmp_path: Path) -> None:
    async def wait_in_vain(receiver: ChannelReceiver) -> None:
        async def first() -> Record:
            return await anext(aiter(receiver))

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(first(), 0.01)

    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        asyncio.run(wait_in_vain(receiver))
        sender.send(b"later")
        assert values(take(receiver, 1)) == [b"later"]


def test_a_closed_receiver_leaves_no_address_and_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with ChannelReceiver(tmp_path, "c"), ChannelSender(tmp_path, "c") as sender:
        sender.send(b"x")
    assert list(channel_directory(tmp_path, "c").iterdir()) == []
    assert threading.active_count() == before


def test_a_closed_sender_refuses(tmp_path: Path) -> None:
    sender = ChannelSender(tmp_path, "c")
    sender.close()
    sender.close()
    with pytest.raises(ChannelError, match="CHANNEL_CLOSED"):
        sender.send(b"x")
    with pytest.raises(ChannelError, match="CHANNEL_CLOSED"):
        sender.flush()
    assert sender.stats.receivers == 0


def test_closing_a_sender_delivers_what_it_still_held(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver:
        with ChannelSender(tmp_path, "c") as sender:
            for value in numbered(1000):
                sender.send(value)
        assert sender.stats.delivered == 1000
        assert values(take(receiver, 1000)) == numbered(1000)
        assert eventually(lambda: receiver.stats.senders == 0)


def test_a_value_that_is_not_bytes_leaves_the_channel_usable(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        with pytest.raises(RecordError, match="CHANNEL_VALUE"):
            sender.send({"column": 1})
        sender.send(b"fine")
        assert values(take(receiver, 1)) == [b"fine"]
        assert sender.stats.sent == 1


@pytest.mark.parametrize("bounds", [{"buffer_records": 0}, {"buffer_bytes": -1}])
def test_a_buffer_that_holds_nothing_is_refused(tmp_path: Path, bounds: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="CHANNEL_BUFFER"):
        ChannelReceiver(tmp_path, "c", **bounds)
