from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from penstock.broker.plan import HOST
from penstock.broker.wire import PartitionView, describe_cluster, describe_quorum


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """Somebody who gives one answer, whatever is asked, and hangs up."""
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def framed(body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, 1) + body


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def numbers(*values: int) -> bytes:
    return struct.pack(f">i{len(values)}i", len(values), *values)


def test_a_cluster_is_read_as_brokers_write_it() -> None:
    broker = struct.pack(">i", 2) + text(HOST) + struct.pack(">ih", 9092, -1)
    part = struct.pack(">hii", 0, 0, 2) + numbers(2, 1) + numbers(2)
    topic = struct.pack(">h", 0) + text("t") + b"\x00" + struct.pack(">i", 1) + part
    body = struct.pack(">i", 1) + broker + struct.pack(">ii", 2, 1) + topic
    with answering(framed(body)) as port:
        view = describe_cluster(port)
    assert view.brokers == (2,)
    assert view.topics == ("t",)
    assert view.partitions == (PartitionView("t", 0, 2, (2, 1), (2,)),)


def test_a_quorum_is_read_as_brokers_write_it() -> None:
    voters = b"".join(struct.pack(">iq", voter, 5) + b"\x00" for voter in (3, 1))
    part = struct.pack(">ihiiq", 0, 0, 3, 7, 5) + b"\x03" + voters + b"\x01\x00"
    body = b"\x00" + struct.pack(">h", 0) + b"\x02" + b"\x02t" + b"\x02" + part + b"\x00\x00"
    with answering(framed(body)) as port:
        quorum = describe_quorum(port)
    assert (quorum.leader, quorum.voters) == (3, (1, 3))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        framed(b"\x00"),
        framed(b"\x00\x00\x2a\x2a\x00\x00"),
    ],
)
def test_what_is_no_answer_is_as_if_none_had_come(answer: bytes) -> None:
    for ask in (describe_cluster, describe_quorum):
        with answering(answer) as port, pytest.raises(OSError, match=r"."):
            ask(port)
