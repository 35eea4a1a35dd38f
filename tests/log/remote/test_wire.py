from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from penstock.errors import LogError, RecordError
from penstock.log.remote import wire
from penstock.log.remote.wire import (
    Message,
    decode_rows,
    encode_hello,
    encode_rows,
    hung_up,
    receive_hello,
    receive_message,
    send_message,
)
from penstock.log.rows import rows_of_bytes

TOKEN = bytes(range(32))


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        one.settimeout(10)
        other.settimeout(10)
        yield one, other


def test_a_message_arrives_as_it_was_sent(ends: tuple[socket.socket, socket.socket]) -> None:
    rows = rows_of_bytes([b"a", None, b""], keys=[b"k", None, b""])
    send_message(ends[0], Message({"method": "x", "offset": np.int64(2**62)}, encode_rows(rows)))
    send_message(ends[0], Message({}))
    first, second = receive_message(ends[1]), receive_message(ends[1])
    assert first is not None
    assert first.header == {"method": "x", "offset": 2**62}
    assert decode_rows(first.body).equals(rows)
    assert second == Message({}, None)


def test_the_rows_that_came_are_not_copied(ends: tuple[socket.socket, socket.socket]) -> None:
    send_message(ends[0], Message({}, encode_rows(rows_of_bytes([b"x" * 1000]))))
    message = receive_message(ends[1])
    assert message is not None
    assert message.body is not None
    values = decode_rows(message.body)["value"].chunk(0).buffers()[2]
    assert 0 <= values.address - message.body.address < message.body.size
    assert message.body.address % 64 == 0


def test_a_hang_up_between_messages_is_an_end_and_within_one_a_loss(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    send_message(ends[0], Message({"a": 1}))
    ends[0].sendall(struct.pack(">IQ", 10, 0) + b"{")
    assert not hung_up(ends[1])
    ends[0].close()
    assert receive_message(ends[1]) == Message({"a": 1}, None)
    with pytest.raises(ConnectionError):
        receive_message(ends[1])
    assert receive_message(ends[1]) is None
    assert hung_up(ends[1])


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">IQ", wire.MAX_HEADER_BYTES + 1, 0),
        struct.pack(">IQ", 2, wire.MAX_BODY_BYTES + 1),
        struct.pack(">IQ", 0, 0),
        struct.pack(">IQ", 2, 0) + b"[]",
        struct.pack(">IQ", 3, 0) + b"{x}",
        struct.pack(">IQ", 2, 0) + b"\xff\xfe",
        struct.pack(">IQ", 200_000, 0) + b"[" * 200_000,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
def test_what_is_no_message_is_refused(
    ends: tuple[socket.socket, socket.socket], data: bytes
) -> None:
    ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * len(data))
    ends[0].sendall(data)
    with pytest.raises(LogError, match="LOG_PROTOCOL"):
        receive_message(ends[1])


def test_a_batch_above_the_limit_is_refused_before_it_is_sent(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_BODY_BYTES", 100)
    with pytest.raises(RecordError, match="BATCH_TOO_LARGE"):
        send_message(ends[0], Message({}, pa.py_buffer(b"x" * 101)))
    ends[0].close()
    assert receive_message(ends[1]) is None


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n    ", "LOG_PROTOCOL"),
        (struct.pack(">4sH32s", b"PNLG", wire.VERSION + 1, TOKEN), "LOG_VERSION"),
        (encode_hello(bytes(32)), "LOG_TOKEN"),
    ],
)
def test_a_stranger_is_refused(
    ends: tuple[socket.socket, socket.socket], hello: bytes, code: str
) -> None:
    ends[0].sendall(hello)
    with pytest.raises(LogError, match=code):
        receive_hello(ends[1], TOKEN)


def test_who_knows_the_token_is_let_in(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[0].sendall(encode_hello(TOKEN))
    receive_hello(ends[1], TOKEN)
    ends[0].close()
    with pytest.raises(ConnectionError):
        receive_hello(ends[1], TOKEN)
