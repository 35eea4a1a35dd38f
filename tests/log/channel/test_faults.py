from __future__ import annotations

import os
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ChannelError
from penstock.log.channel import intake as intake_module
from penstock.log.channel import roster as roster_module
from penstock.log.channel.address import Address, channel_directory, read_address, receiver_ids
from penstock.log.channel.frame import encode_hello, encode_record
from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.channel.sender import ChannelSender
from tests.log.channel.kit import eventually, numbered, take, values
from tests.log.channel.processes import next_line, receiver_process, stop
from tests.log.embedded.forking import holds_in_child


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[ChannelReceiver]:
    with ChannelReceiver(tmp_path, "c", buffer_records=5) as receiver:
        yield receiver


A_MINUTE = 60_000_000_000


def the_address(home: Path) -> Address:
    directory = channel_directory(home, "c")
    (only,) = receiver_ids(directory)
    address = read_address(directory / only)
    assert address is not None
    return address


def dial(home: Path, opening: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", the_address(home).port), 20)
    connection.sendall(opening)
    return connection


def hung_up(connection: socket.socket) -> bool:
    with connection:
        try:
            return connection.recv(100) == b""
        except ConnectionResetError:
            return True


@pytest.mark.kill
def test_a_killed_receiver_is_dropped_and_the_sender_goes_on(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as survivor, ChannelSender(tmp_path, "c") as sender:
        with receiver_process(tmp_path, "c") as process:
            assert sender.send(b"both") == 2
            assert next_line(process) == "both"
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert eventually(lambda: sender.stats.receivers == 1)
        assert sender.send(b"one") == 1
        assert values(take(survivor, 2)) == [b"both", b"one"]


@pytest.mark.kill
def test_a_sender_that_waits_for_a_receiver_is_freed_when_it_is_killed(tmp_path: Path) -> None:
    with ChannelSender(tmp_path, "c", policy="block") as sender:
        with receiver_process(tmp_path, "c", window=5) as process:
            stop(process)
            waiting = threading.Thread(target=lambda: [sender.send(v) for v in numbered(50)])
            waiting.start()
            assert eventually(lambda: sender.stats.sent == 6)
            process.send_signal(signal.SIGKILL)
            waiting.join(20)
            assert not waiting.is_alive()
        assert sender.stats.lost == 50


@pytest.mark.kill
def test_the_address_of_a_killed_receiver_is_recognised_and_removed(tmp_path: Path) -> None:
    directory = channel_directory(tmp_path, "c")
    with receiver_process(tmp_path, "c") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (stale,) = receiver_ids(directory)
    with ChannelSender(tmp_path, "c") as sender:
        assert sender.send(b"nobody") == 0
        assert receiver_ids(directory) == []
        with ChannelReceiver(tmp_path, "c") as receiver:
            assert stale not in receiver_ids(directory)
            assert sender.send(b"somebody") == 1
            assert values(take(receiver, 1)) == [b"somebody"]


@pytest.mark.kill
def test_ctrl_c_ends_a_waiting_receiver_and_takes_its_address_away(tmp_path: Path) -> None:
    with receiver_process(tmp_path, "c") as process:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert receiver_ids(channel_directory(tmp_path, "c")) == []


@pytest.mark.kill
def test_flush_says_when_a_receiver_does_not_confirm(tmp_path: Path) -> None:
    with receiver_process(tmp_path, "c") as process, ChannelSender(tmp_path, "c") as sender:
        stop(process)
        sender.send(b"x")
        with pytest.raises(ChannelError, match="CHANNEL_FLUSH_TIMEOUT"):
            sender.flush(timeout=0.05)
        assert sender.stats.in_flight == 1
        process.send_signal(signal.SIGCONT)
        assert next_line(process) == "x"
        sender.flush(timeout=20)
        assert sender.stats.delivered == 1


@pytest.mark.parametrize(
    ("opening", "code"),
    [
        (encode_hello(bytes(32)) + encode_record(0, None, b"forged", ()), "CHANNEL_TOKEN"),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n", "CHANNEL_HELLO"),
        (b"PNCH" + struct.pack(">H", 9) + bytes(32), "CHANNEL_VERSION"),
    ],
)
def test_a_stranger_is_hung_up_on_and_counted(
    tmp_path: Path, receiver: ChannelReceiver, opening: bytes, code: str
) -> None:
    assert hung_up(dial(tmp_path, opening))
    assert receiver.stats.refused == 1
    assert [fault.code for fault in receiver.faults] == [code]
    assert receiver.poll(0) == []
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"fine")
        assert values(take(receiver, 1)) == [b"fine"]


@pytest.mark.parametrize(
    ("frames", "code", "kept"),
    [
        (struct.pack(">IB", 0, 1), "CHANNEL_FRAME", 0),
        (struct.pack(">IB", 2**31, 1), "CHANNEL_FRAME", 0),
        (struct.pack(">IB", 1, 77), "CHANNEL_FRAME", 0),
        (struct.pack(">IBB", 2, 3, 0), "CHANNEL_FRAME", 0),
        (encode_record(0, None, b"x", ()) + struct.pack(">IB", 0, 1), "CHANNEL_FRAME", 1),
        (encode_record(0, None, b"x", ()) * 6, "CHANNEL_OVERRUN", 5),
    ],
)
def test_a_sender_that_breaks_the_rules_loses_its_connection_only(
    tmp_path: Path, receiver: ChannelReceiver, frames: bytes, code: str, kept: int
) -> None:
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"before")
        assert values(take(receiver, 1)) == [b"before"]
        assert hung_up(dial(tmp_path, encode_hello(the_address(tmp_path).token) + frames))
        assert [fault.code for fault in receiver.faults] == [code]
        assert values(receiver.poll(0)) == [b"x"] * kept
        sender.send(b"after")
        assert values(take(receiver, 1)) == [b"after"]
        assert receiver.stats.senders == 1


def test_a_sender_also_tells_a_hello_that_comes_in_pieces(
    tmp_path: Path, receiver: ChannelReceiver
) -> None:
    stream = encode_hello(the_address(tmp_path).token) + encode_record(7, None, b"slow", ())
    with dial(tmp_path, b"") as connection:
        for byte in stream:
            connection.sendall(bytes([byte]))
        assert values(take(receiver, 1)) == [b"slow"]


def test_a_connection_that_says_nothing_is_closed(
    tmp_path: Path, receiver: ChannelReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "_GREETING_SECONDS", 0.05)
    assert hung_up(dial(tmp_path, b"PN"))
    assert [fault.code for fault in receiver.faults] == ["CHANNEL_SILENT"]


def test_a_crowd_of_silent_connections_does_not_keep_a_sender_out(
    tmp_path: Path, receiver: ChannelReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake_module, "_MOST_STRANGERS", 4)
    crowd = [dial(tmp_path, b"") for _ in range(8)]
    assert all(hung_up(connection) for connection in crowd[:4])
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"fine")
        assert values(take(receiver, 1)) == [b"fine"]
    for connection in crowd[4:]:
        connection.close()


def test_a_receiver_out_of_descriptors_accepts_again_later(
    tmp_path: Path, receiver: ChannelReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [1, 2]

    def accept(listener: socket.socket) -> tuple[socket.socket, object]:
        if refusals:
            refusals.pop()
            raise OSError(24, "Too many open files")
        return real_accept(listener)

    real_accept = socket.socket.accept
    monkeypatch.setattr(socket.socket, "accept", accept)
    monkeypatch.setattr(intake_module, "_ACCEPT_PAUSE_SECONDS", 0.02)
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"at last")
        assert values(take(receiver, 1)) == [b"at last"]
    assert refusals == []


def test_a_receiver_that_cannot_be_reached_is_a_fault_and_not_online(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver:
        directory = channel_directory(tmp_path, "c")
        path = directory / receiver_ids(directory)[0]
        with socket.create_server(("127.0.0.1", 0)) as gone:
            free_port = gone.getsockname()[1]
        path.write_text(path.read_text().replace(str(the_address(tmp_path).port), str(free_port)))
        with ChannelSender(tmp_path, "c") as sender:
            assert sender.send(b"x") == 0
            assert [fault.code for fault in sender.faults] == ["CHANNEL_CONNECT"]
            assert sender.stats.lost == 1
        assert receiver.stats.received == 0


def test_a_receiver_of_a_newer_version_is_a_fault_and_not_online(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c"), ChannelSender(tmp_path, "c") as sender:
        directory = channel_directory(tmp_path, "c")
        path = directory / receiver_ids(directory)[0]
        path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
        assert sender.send(b"x") == 0
        assert [fault.code for fault in sender.faults] == ["CHANNEL_VERSION"]


def test_a_sender_with_a_wrong_token_counts_its_records_as_lost(tmp_path: Path) -> None:
    with ChannelReceiver(tmp_path, "c") as receiver, ChannelSender(tmp_path, "c") as sender:
        directory = channel_directory(tmp_path, "c")
        path = directory / receiver_ids(directory)[0]
        token = the_address(tmp_path).token.hex()
        path.write_text(path.read_text().replace(token, token[::-1]))
        sender.send(b"forged")
        assert eventually(lambda: sender.stats.lost == 1)
        assert receiver.stats.received == 0
        assert receiver.stats.refused == 1


def test_a_machine_without_sockets_is_a_coded_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(ChannelError, match="CHANNEL_SOCKET"):
        ChannelReceiver(tmp_path, "c")
    monkeypatch.setattr(socket, "socketpair", refuse)
    with pytest.raises(ChannelError, match="CHANNEL_SOCKET"):
        ChannelSender(tmp_path, "c")
    assert not channel_directory(tmp_path, "c").exists()


def test_a_home_that_cannot_be_written_leaves_no_thread_behind(tmp_path: Path) -> None:
    (tmp_path / "channels").write_text("not a directory")
    before = threading.active_count()
    with pytest.raises(ChannelError, match="CHANNEL_HOME"):
        ChannelReceiver(tmp_path, "c")
    assert threading.active_count() == before


def test_an_interrupt_in_the_middle_of_a_write_never_garbles_the_stream(
    tmp_path: Path, receiver: ChannelReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster_module, "_TICK_NANOSECONDS", -A_MINUTE)
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"before")
        assert values(take(receiver, 1)) == [b"before"]
        (outlet,) = sender._roster.connections
        real = outlet._connection

        class Interrupted:
            def send(self, data: bytes) -> int:
                real.send(data[:10])
                raise KeyboardInterrupt

            def __getattr__(self, name: str) -> object:
                return getattr(real, name)

        sender.flush()
        outlet._connection = Interrupted()  # type: ignore[assignment]
        outlet.written_at = 0.0
        with pytest.raises(KeyboardInterrupt):
            sender.send(b"torn")
        assert sender.stats.lost == 1
        assert eventually(lambda: receiver.stats.senders == 0)
        assert receiver.stats.received == 1
        assert receiver.stats.refused == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_no_part_in_the_channels_of_its_parent(
    tmp_path: Path, receiver: ChannelReceiver
) -> None:
    with ChannelSender(tmp_path, "c") as sender:
        sender.send(b"before")

        def child_is_refused() -> bool:
            refusals = 0
            for call in (lambda: sender.send(b"from the child"), receiver.poll):
                try:
                    call()
                except ChannelError as error:
                    refusals += error.code == "CHANNEL_CLOSED"
            receiver.close()
            sender.close()
            return refusals == 2

        assert holds_in_child(child_is_refused)
        sender.send(b"after")
        assert values(take(receiver, 2)) == [b"before", b"after"]


@pytest.mark.kill
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_receiver_is_seen_to_die_though_its_forked_child_lives_on(tmp_path: Path) -> None:
    directory = channel_directory(tmp_path, "c")
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        try:
            receive_beside_a_child_and_die(tmp_path, theirs)
        finally:
            os._exit(1)
    with ours, theirs, ChannelSender(tmp_path, "c") as sender:
        assert ours.recv(1) == b"r"
        assert sender.send(b"deadly") == 1
        os.waitpid(process, 0)
        assert eventually(lambda: sender.stats.receivers == 0)
        assert eventually(lambda: sender.send(b"nobody") == 0 and not receiver_ids(directory))
        ours.send(b"x")


def receive_beside_a_child_and_die(home: Path, control: socket.socket) -> None:
    receiver = ChannelReceiver(home, "c")
    if os.fork() == 0:
        control.recv(1)
        os._exit(0)
    control.send(b"r")
    for _ in receiver:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_receiver_that_appears_in_the_same_tick_of_the_clock_is_found(
    tmp_path: Path, receiver: ChannelReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster_module, "_TICK_NANOSECONDS", A_MINUTE)
    directory = channel_directory(tmp_path, "c")
    with ChannelSender(tmp_path, "c") as sender:
        assert sender.send(b"one") == 1
        changed_at = directory.stat().st_mtime_ns
        with ChannelReceiver(tmp_path, "c") as second:
            os.utime(directory, ns=(changed_at, changed_at))
            assert sender.send(b"two") == 2
            assert values(take(second, 1)) == [b"two"]
