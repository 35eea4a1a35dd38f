from __future__ import annotations

import os
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import LogError, StorageError
from penstock.log.embedded.home import open_home
from penstock.log.embedded.nodes import nodes, token_of
from penstock.log.port import Bounds, Capability, ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.remote import session
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.server import LogServer
from penstock.log.remote.wire import Message, encode_hello, receive_message, send_message
from penstock.log.rows import rows_of_bytes
from tests.log.channel.kit import eventually
from tests.log.remote.kit import Served, served

pytestmark = pytest.mark.slow

ROWS = rows_of_bytes([b"x"])


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as running:
        running.log.create_topic("clicks")
        yield running


def connect(here: Served, *, hello: bool = True) -> socket.socket:
    """A client that says what it likes."""
    port = int(here.server.info.address.rpartition(":")[2])
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    if hello:
        token = token_of(here.home, here.server.info.address)
        assert token is not None
        connection.sendall(encode_hello(token))
        assert receive_message(connection) == Message({"result": None}, None)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Whether the server hangs up, whatever it says before."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


def test_a_server_is_in_the_view_from_its_start_to_its_end(tmp_path: Path) -> None:
    with open_home(tmp_path) as log:
        with LogServer(log, tmp_path) as first, LogServer(log, tmp_path) as second:
            assert {node.node_id for node in nodes(tmp_path)} == {
                first.info.node_id,
                second.info.node_id,
            }
            assert {node.pid for node in nodes(tmp_path)} == {os.getpid()}
            second.close()
            assert nodes(tmp_path) == (first.info,)
        assert nodes(tmp_path) == ()


def test_two_servers_of_one_home_offer_the_same_log(here: Served, tmp_path: Path) -> None:
    with (
        open_home(tmp_path) as embedded,
        LogServer(embedded, tmp_path) as second,
        RemoteLog(second.info.address, home=tmp_path) as other,
    ):
        here.log.append("clicks", 0, ROWS)
        assert other.append("clicks", 0, ROWS).base_offset == 1
        assert here.log.bounds("clicks", 0) == other.bounds("clicks", 0) == Bounds(0, 2)


def test_only_this_machine_is_listened_to(here: Served) -> None:
    assert here.server._listener.getsockname()[0] == "127.0.0.1"


def test_what_needs_the_files_is_not_offered(here: Served) -> None:
    assert here.embedded.capabilities - here.log.capabilities == {Capability.TOPIC_DUMP}


def test_a_stranger_is_told_and_hung_up_on(here: Served) -> None:
    with connect(here, hello=False) as stranger:
        stranger.sendall(encode_hello(bytes(32)))
        answer = receive_message(stranger)
        assert answer is not None
        assert answer.header["error"]["code"] == "LOG_TOKEN"
        assert is_closed(stranger)


def test_who_does_not_say_who_it_is_is_hung_up_on(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_HELLO_SECONDS", 0.05)
    with connect(here, hello=False) as silent:
        silent.sendall(b"PNL")
        assert is_closed(silent)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">IQ", 2**32 - 1, 0),
        struct.pack(">IQ", 2, 2**60),
        struct.pack(">IQ", 2, 0) + b"[]",
    ],
)
def test_a_malformed_message_costs_its_connection_only(here: Served, data: bytes) -> None:
    with connect(here) as faulty:
        faulty.sendall(data)
        assert is_closed(faulty)
    assert here.log.topics() == ("clicks",)


def test_garbage_never_ends_the_server(here: Served) -> None:
    chance = random.Random(7)
    for turn in range(40):
        with connect(here, hello=turn % 2 == 0) as faulty:
            faulty.sendall(chance.randbytes(chance.randrange(1, 300)))
    assert here.log.topics() == ("clicks",)
    assert eventually(lambda: len(here.server._sessions) <= 1)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        (Message({"method": "moon", "arguments": {}}), "LOG_PROTOCOL"),
        (Message({"method": "transaction.begin", "arguments": {}}), "LOG_PROTOCOL"),
        (Message({"method": "seat.heartbeat", "arguments": {}}), "LOG_PROTOCOL"),
        (Message({"method": "topic", "arguments": {}}), "LOG_SERVER_FAILED"),
        (Message({"method": "topic"}), "LOG_SERVER_FAILED"),
        (Message({}), "LOG_SERVER_FAILED"),
        (Message({"method": "topic", "arguments": {"name": []}}), "LOG_SERVER_FAILED"),
        (Message({"method": "topics", "arguments": {}}, pa.py_buffer(b"abc")), "LOG_SERVER_FAILED"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_and_the_next_is_not(
    here: Served, question: Message, code: str
) -> None:
    with connect(here) as client:
        send_message(client, question)
        refused = receive_message(client)
        assert refused is not None
        assert refused.header["error"]["code"] == code
        send_message(client, Message({"method": "topics", "arguments": {}}))
        answer = receive_message(client)
        assert answer is not None
        assert answer.header == {"result": ["clicks"]}


def test_a_defect_in_the_server_is_told_to_its_client(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> tuple[str, ...]:
        raise RuntimeError("a wire is loose")

    monkeypatch.setattr(here.embedded, "topics", fail)
    with pytest.raises(LogError, match=r'LOG_SERVER_FAILED.*"topics".*a wire is loose'):
        here.log.topics()


def test_more_connections_than_there_may_be_are_refused(tmp_path: Path) -> None:
    with (
        open_home(tmp_path) as embedded,
        LogServer(embedded, tmp_path, most_connections=2) as server,
        RemoteLog(server.info.address, home=tmp_path) as log,
    ):
        with log.transaction("1"), log.transaction("2"), pytest.raises(LogError, match="LOG_BUSY"):
            log.topics()
        assert eventually(lambda: not server._sessions)
        assert log.topics() == ()


def test_a_port_that_is_taken_is_refused(here: Served, tmp_path: Path) -> None:
    port = int(here.server.info.address.rpartition(":")[2])
    for taken in (port, 70_000):
        with pytest.raises(LogError, match="LOG_PORT"):
            LogServer(here.embedded, tmp_path, port=taken)


def test_a_home_that_cannot_be_written_is_refused_and_the_port_is_free(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("not a directory")
    with open_home(tmp_path) as embedded, pytest.raises(StorageError, match="STORAGE_FAILED"):
        LogServer(embedded, tmp_path)


def test_the_transaction_of_a_client_that_is_gone_is_aborted(here: Served) -> None:
    with RemoteLog(here.server.info.address, home=here.home) as other:
        transaction = other.transaction("job")
        transaction.begin()
        transaction.append("clicks", 0, ROWS)
        here.log.append("clicks", 0, ROWS)
        assert here.log.bounds("clicks", 0).end == 0
    assert here.log.wait({TopicPartition("clicks", 0): 0}, 20)
    assert here.log.read("clicks", 0, 0, ReadLimit()).rows["_offset"].to_pylist() == [1]


def test_the_seat_of_a_client_that_is_gone_is_free(here: Served) -> None:
    with RemoteLog(here.server.info.address, home=here.home) as other:
        seat = other.join("readers", ["clicks"])
        seat.heartbeat()
        assert seat.owned == {TopicPartition("clicks", 0)}
        assert len(here.log.group("readers").members) == 1
    assert eventually(lambda: not here.log.group("readers").members)


def test_a_wait_ends_with_its_client(here: Served) -> None:
    with connect(here) as client:
        positions = [["clicks", 0, 0]]
        asked = {"positions": positions, "timeout": 3600}
        send_message(client, Message({"method": "wait", "arguments": asked}))
        assert eventually(lambda: len(here.server._sessions) == 2)
    assert eventually(lambda: len(here.server._sessions) == 1)


def test_a_server_that_stops_answers_what_is_under_way(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[bool] = []
    under_way = threading.Event()
    wait = here.embedded.wait

    def noted(*asked: Any, **how: Any) -> bool:  # noqa: ANN401
        under_way.set()
        return wait(*asked, **how)

    monkeypatch.setattr(here.embedded, "wait", noted)
    waiter = threading.Thread(
        target=lambda: answers.append(here.log.wait({TopicPartition("clicks", 0): 0}, 3600))
    )
    # The topic's connection is idle again, so that the wait is under way on it.
    assert eventually(lambda: bool(here.log._exchange._idle))
    waiter.start()
    assert under_way.wait(20)
    begun = time.monotonic()
    here.server.close()
    waiter.join(20)
    assert answers == [False]
    assert time.monotonic() - begun < 4
    assert eventually(lambda: not here.server._sessions)


def test_a_forked_child_does_not_keep_its_parents_server_alive(here: Served) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.read(reading, 1)
        os._exit(0)
    try:
        here.server.close()
        assert nodes(here.home) == ()
        with pytest.raises(StorageError, match="LOG_UNREACHABLE"):
            here.log.topics()
        with pytest.raises(ConnectionError):
            connect(here, hello=False)
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
