"""The words a client and a server of a log exchange on a socket.

A client opens with a hello of 38 bytes: magic "PNLG", version (u16), token (32 bytes). The
server answers it with a message, as it does every later one. A message, in network byte order:

    header length u32 | body length u64 | header: a JSON object | body: an Arrow IPC stream

A request's header has `method` and `arguments`, an answer's `result` or `error`. There is no
checksum: the bytes never leave the machine's memory.
"""

from __future__ import annotations

import hmac
import json
import operator
import select
import socket
import struct
from typing import Any, Final, NamedTuple

import pyarrow as pa

from penstock.errors import LogError, RecordError

VERSION: Final = 1
TOKEN_BYTES: Final = 32
MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
MAX_BODY_BYTES: Final = 1024 * 1024 * 1024

_MAGIC = b"PNLG"
_HELLO = struct.Struct(f">4sH{TOKEN_BYTES}s")
_HEAD = struct.Struct(">IQ")


class Message(NamedTuple):
    """A JSON object, and rows as an Arrow IPC stream where there are any."""

    header: dict[str, Any]
    body: pa.Buffer | None = None


def encode_hello(token: bytes) -> bytes:
    """The first bytes on a connection: who may speak, in which version."""
    return _HELLO.pack(_MAGIC, VERSION, token)


def receive_hello(connection: socket.socket, token: bytes) -> None:
    """Take the first bytes of a client; refuse another protocol, version or token."""
    data = bytearray(_HELLO.size)
    if not _fill(connection, memoryview(data)):
        raise _ended()
    magic, version, given = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise malformed("it did not open with a hello")
    if version != VERSION:
        raise LogError(
            "LOG_VERSION",
            f"a client speaks version {version} of the log's protocol, its server {VERSION}",
            hint="Run the same release of Penstock at both ends.",
        )
    if not hmac.compare_digest(given, token):
        raise LogError(
            "LOG_TOKEN",
            "a client did not know the token of the log's server",
            hint="Name the home directory that the server was started with.",
        )


def send_message(connection: socket.socket, message: Message) -> None:
    """Send a message; rows are refused where they are more than one message holds."""
    header = json.dumps(message.header, default=operator.index).encode()
    size = 0 if message.body is None else message.body.size
    if size > MAX_BODY_BYTES:
        raise RecordError(
            "BATCH_TOO_LARGE",
            f"a batch of {size} bytes is larger than the {MAX_BODY_BYTES} a socket carries at once",
            hint="Append in smaller batches (about 16 MiB).",
        )
    connection.sendall(_HEAD.pack(len(header), size) + header)
    if message.body is not None:
        connection.sendall(message.body)


def receive_message(connection: socket.socket) -> Message | None:
    """Give the next message; None where the other end hung up after the last one."""
    head = bytearray(_HEAD.size)
    if not _fill(connection, memoryview(head)):
        return None
    header_length, body_length = _HEAD.unpack(head)
    if header_length > MAX_HEADER_BYTES or body_length > MAX_BODY_BYTES:
        raise malformed(f"lengths of {header_length} and {body_length} bytes")
    text = bytearray(header_length)
    # Arrow's own memory is aligned as the rows in it need and, unlike a bytearray, not zeroed.
    body = pa.allocate_buffer(body_length) if body_length else None
    for part in (text, body):
        if part is not None and not _fill(connection, memoryview(part)):
            raise _ended()
    return Message(_decode_header(text), body)


def hung_up(connection: socket.socket) -> bool:
    """Whether the other end has closed, seen without waiting and without taking anything."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    try:
        return bool(poll.poll(0)) and not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def encode_rows(rows: pa.Table) -> pa.Buffer:
    """Give rows as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue()


def decode_rows(body: pa.Buffer) -> pa.Table:
    """Give the rows of an Arrow IPC stream, which lie in the bytes that came."""
    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()


def malformed(what: str) -> LogError:
    """The error of bytes that are no message."""
    return LogError(
        "LOG_PROTOCOL",
        f"a connection to a log's server was closed: {what}",
        hint="Only Penstock speaks to a log's server; run the same release at both ends.",
    )


def _decode_header(text: bytearray) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise malformed("a message's header is not JSON") from failure
    if not isinstance(header, dict):
        raise malformed("a message's header is not an object")
    return header


def _fill(connection: socket.socket, room: memoryview) -> bool:
    """Fill the room; False where the other end hung up before the first byte."""
    filled = 0
    while filled < len(room):
        count = connection.recv_into(room[filled:])
        if not count:
            if filled:
                raise _ended()
            return False
        filled += count
    return True


def _ended() -> ConnectionError:
    return ConnectionError("the connection ended in the middle of a message")
