"""A message in one piece, for what carries pieces: `header length u32 | header | body`."""

from __future__ import annotations

import json
import operator
import struct

import pyarrow as pa

from penstock.log.remote.wire import Message, malformed

_HEAD = struct.Struct(">I")


def pack(message: Message) -> bytes:
    """Give a message as one piece."""
    header = json.dumps(message.header, default=operator.index).encode()
    body = b"" if message.body is None else memoryview(message.body)
    return b"".join((_HEAD.pack(len(header)), header, body))


def unpack(piece: bytes) -> Message:
    """Read what `pack` gave."""
    if len(piece) < _HEAD.size:
        raise malformed("a piece is too short")
    (length,) = _HEAD.unpack_from(piece)
    end = _HEAD.size + length
    try:
        header = json.loads(piece[_HEAD.size : end])
    except (ValueError, RecursionError) as failure:
        raise malformed("a message's header is not JSON") from failure
    if not isinstance(header, dict) or len(piece) < end:
        raise malformed("a message's header is not an object")
    # Copied: what Arrow reads in place is to lie where its numbers can be read at once.
    body = piece[end:]
    return Message(header, pa.py_buffer(body) if body else None)
