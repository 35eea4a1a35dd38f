"""The words a sender and a receiver exchange on a socket.

A sender opens with a hello of 38 bytes: magic "PNCH", version (u16), token (32 bytes).
After it come frames, in network byte order:

    length u32 of what follows | kind u8 | body
    kind 1 record  timestamp i64 | key length i32 | value length i32 | key | value | headers
    kind 2 sync    empty; asks for an acknowledgement
    kind 3 gap     dropped u64 | spilled u64: totals of what this connection did not carry

A length of -1 is an absent key or value. Headers are absent, or a count (u16) and for each
its name length (u16), name, value length (i32), value. The receiver answers with frames of

    kind 4 ack     arrived u64 | record limit u64 | byte limit u64

all three totals since the connection began: records arrived, and how far the sender may go.
There is no checksum: the bytes never leave the machine's memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias, cast

from penstock.errors import ChannelError, RecordError
from penstock.log.record import Headers, Value

VERSION: Final = 1
TOKEN_BYTES: Final = 32
MAX_FRAME_BYTES: Final = 16 * 1024 * 1024

RECORD: Final = 1
SYNC: Final = 2
GAP: Final = 3
ACK: Final = 4

Frame: TypeAlias = tuple[int, bytes, int, int]
"""The kind of a frame, the bytes it lies in, where its body starts and where it ends."""

Parts: TypeAlias = tuple[int, bytes | None, bytes | None, Headers]
"""Timestamp, key, value and headers of a record."""

_MAGIC = b"PNCH"
_HELLO = struct.Struct(f">4sH{TOKEN_BYTES}s")
_FRAME = struct.Struct(">IB")
_RECORD = struct.Struct(">IBqii")
_RECORD_BODY = struct.Struct(">qii")
_GAP = struct.Struct(">IBQQ")
_ACK = struct.Struct(">IBQQQ")
_SHORT = struct.Struct(">H")
_SIZE = struct.Struct(">i")
_LENGTH_BYTES = 4

HELLO_BYTES: Final = _HELLO.size
FRAME_HEAD_BYTES: Final = _FRAME.size
ACK_BYTES: Final = _ACK.size
SYNC_FRAME: Final = _FRAME.pack(1, SYNC)


class Ack(NamedTuple):
    """What a receiver has had from a connection, and how far its sender may go."""

    arrived: int
    record_limit: int
    byte_limit: int


class Gap(NamedTuple):
    """How many records a connection did not carry since it began."""

    dropped: int
    spilled: int


def encode_hello(token: bytes) -> bytes:
    """The first bytes on a connection: who may speak, in which version."""
    return _HELLO.pack(_MAGIC, VERSION, token)


def decode_hello(data: bytes) -> bytes:
    """Give the token of a hello; refuse another protocol or another version."""
    magic, version, token = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise ChannelError(
            "CHANNEL_HELLO",
            "a connection to a channel did not open with a hello",
            hint="Only penstock senders can speak to a channel; something else has its port.",
        )
    if version != VERSION:
        raise version_mismatch("sender", version)
    return bytes(token)


def version_mismatch(peer: str, version: object) -> ChannelError:
    """The error of two ends that speak different versions."""
    return ChannelError(
        "CHANNEL_VERSION",
        f"a {peer} speaks version {version} of the channel protocol, this process {VERSION}",
        hint="Run the same release of penstock at both ends of a channel.",
    )


def encode_record(timestamp: int, key: bytes | None, value: Value, headers: Headers) -> bytes:
    """One record as a frame; a value that is not bytes is refused, and so is one too large."""
    try:
        frame = _pack_record(timestamp, key, value, headers)
    except (TypeError, ValueError, AttributeError, struct.error) as failure:
        raise RecordError(
            "CHANNEL_VALUE",
            f"a channel carries bytes: {failure}",
            hint="Encode key, value and header values to bytes; a channel has no schema.",
        ) from failure
    if len(frame) > MAX_FRAME_BYTES:
        raise RecordError(
            "CHANNEL_RECORD_SIZE",
            f"a record of {len(frame)} bytes is above the {MAX_FRAME_BYTES} a channel carries",
            hint="Split the record, or put it in a file and send its name.",
        )
    return frame


def _pack_record(timestamp: int, key: bytes | None, value: Value, headers: Headers) -> bytes:
    key_length = -1 if key is None else len(key)
    value_length = -1 if value is None else len(value)
    tail = _pack_headers(headers) if headers else b""
    length = 1 + _RECORD_BODY.size + max(key_length, 0) + max(value_length, 0) + len(tail)
    head = _RECORD.pack(min(length, 0xFFFFFFFF), RECORD, timestamp, key_length, value_length)
    # A mapping has a length, too, but does not join: that is the check of its kind.
    body = cast("bytes", b"" if value is None else value)
    frame = b"".join((head, b"" if key is None else key, body, tail))
    if len(frame) != _LENGTH_BYTES + length:
        raise TypeError(f"{type(value).__name__} is not a sequence of single bytes")
    return frame


def _pack_headers(headers: Headers) -> bytes:
    parts = [_SHORT.pack(len(headers))]
    for name, value in headers:
        encoded = name.encode()
        parts += (_SHORT.pack(len(encoded)), encoded)
        parts += (_SIZE.pack(-1),) if value is None else (_SIZE.pack(len(value)), value)
    return b"".join(parts)


def decode_record(data: bytes, start: int, end: int) -> Parts:
    """Give the parts of a record's body; one whose lengths contradict each other is refused."""
    try:
        timestamp, key_length, value_length = _RECORD_BODY.unpack_from(data, start)
        key_end = (key_start := start + _RECORD_BODY.size) + max(key_length, 0)
        value_end = key_end + max(value_length, 0)
        if value_end > end:
            raise malformed("a record ends before its key and value do")
        key = None if key_length < 0 else data[key_start:key_end]
        value = None if value_length < 0 else data[key_end:value_end]
        return timestamp, key, value, _unpack_headers(data, value_end, end)
    except (struct.error, UnicodeDecodeError) as failure:
        raise malformed(f"a record cannot be read: {failure}") from failure


def _unpack_headers(data: bytes, start: int, end: int) -> Headers:
    if start == end:
        return ()
    headers: list[tuple[str, bytes | None]] = []
    (count,) = _SHORT.unpack_from(data, start)
    position = start + _SHORT.size
    for _ in range(count):
        (name_length,) = _SHORT.unpack_from(data, position)
        name_end = (position := position + _SHORT.size) + name_length
        (length,) = _SIZE.unpack_from(data, name_end)
        value_end = (value_start := name_end + _SIZE.size) + max(length, 0)
        if value_end > end:
            break
        value = None if length < 0 else data[value_start:value_end]
        headers.append((data[position:name_end].decode(), value))
        position = value_end
    if position != end or len(headers) != count:
        raise malformed("a record's headers do not end where the record does")
    return tuple(headers)


def encode_gap(gap: Gap) -> bytes:
    """The totals of what a connection did not carry, as a frame."""
    return _GAP.pack(_GAP.size - _LENGTH_BYTES, GAP, *gap)


def decode_gap(data: bytes, start: int, end: int) -> Gap:
    """Give the totals of a gap frame's body."""
    if end - start != _GAP.size - _FRAME.size:
        raise malformed(f"a gap of {end - start} bytes")
    return Gap(*_GAP.unpack_from(data, start - _FRAME.size)[2:])


def encode_ack(ack: Ack) -> bytes:
    """An acknowledgement as a frame."""
    return _ACK.pack(_ACK.size - _LENGTH_BYTES, ACK, *ack)


def decode_last_ack(data: bytearray) -> Ack | None:
    """Take all whole acknowledgements off the front and give the last: totals replace totals."""
    whole = len(data) // ACK_BYTES * ACK_BYTES
    if not whole:
        return None
    length, kind, arrived, records, size = _ACK.unpack_from(data, whole - ACK_BYTES)
    if kind != ACK or length != _ACK.size - _LENGTH_BYTES:
        raise malformed(f"kind {kind} in place of an acknowledgement")
    del data[:whole]
    return Ack(arrived, records, size)


def malformed(what: str) -> ChannelError:
    """The error of bytes that are no frame."""
    return ChannelError(
        "CHANNEL_FRAME",
        f"a channel connection carried a malformed frame: {what}",
        hint="The connection was closed; run the same release of penstock at both ends.",
    )


class FrameSplitter:
    """Cuts a stream of chunks into frames, holding back a frame until it is whole."""

    __slots__ = ("_need", "_rest")

    def __init__(self) -> None:
        self._rest = bytearray()
        self._need = _FRAME.size

    def frames(self, chunk: bytes) -> Iterator[Frame]:
        """Give the frames that the chunk completes; refuse a length no frame has."""
        if self._rest:
            self._rest += chunk
            if len(self._rest) < self._need:
                return
            chunk = bytes(self._rest)
            self._rest.clear()
        position, available, self._need = 0, len(chunk), _FRAME.size
        while available - position >= _FRAME.size:
            length, kind = _FRAME.unpack_from(chunk, position)
            if not 1 <= length <= MAX_FRAME_BYTES - _LENGTH_BYTES:
                raise malformed(f"a length of {length} bytes")
            end = position + _LENGTH_BYTES + length
            if end > available:
                self._need = end - position
                break
            yield kind, chunk, position + _FRAME.size, end
            position = end
        self._rest += chunk[position:]
