"""A frame: the unit of append, of checksum and of addressing inside a segment.

128 bytes of header, then an Arrow record batch (or nothing, for a transaction
marker), then zeros up to a multiple of 64. `docs/log-format.md` shows one in hex.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from crc32c import crc32c

from penstock.errors import CorruptionError
from penstock.log.storage import Bytes

MAGIC = b"PNFR"
VERSION = 1
HEADER_SIZE = 128
ALIGNMENT = 64

DATA = 0
COMMIT_MARKER = 1
ABORT_MARKER = 2

HAS_KEYS = 1
HAS_HEADERS = 2
HAS_OFFSETS = 4
HAS_DELETED = 8
TRANSACTIONAL = 16
CONTINUES = 32
LAYOUT = HAS_KEYS | HAS_HEADERS | HAS_OFFSETS | HAS_DELETED

NO_WRITER = -1
NO_HORIZON = -1

_LAYOUT = struct.Struct("<4sIIBBHqqiiqqqqiiqqqqqB7x")
_PADDING = bytes(ALIGNMENT)


class Frame(NamedTuple):
    """The header of a frame: everything about a batch but its rows.

    The fields stand in the order of the bytes; a tuple, since reading makes millions.
    """

    payload_crc: int = 0
    version: int = VERSION
    kind: int = DATA
    flags: int = 0
    stored_length: int = 0
    base_offset: int = 0
    offset_span: int = 0
    records: int = 0
    min_timestamp: int = 0
    max_timestamp: int = 0
    appended_at: int = 0
    writer_id: int = NO_WRITER
    epoch: int = -1
    schema_id: int = 0
    sequence: int = -1
    transaction: int = -1
    payload_length: int = 0
    plain_length: int = 0
    delete_horizon: int = NO_HORIZON
    codec: int = 0

    @property
    def last_offset(self) -> int:
        """The last offset this frame stands for, whether or not its record still exists."""
        return self.base_offset + self.offset_span

    @property
    def next_offset(self) -> int:
        """The first offset after this frame."""
        return self.base_offset + self.offset_span + 1

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record appended in this frame."""
        return self.sequence + self.offset_span

    @property
    def length(self) -> int:
        """The size of the whole frame on disk, header and padding included."""
        return HEADER_SIZE + (self.payload_length + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT

    @property
    def is_marker(self) -> bool:
        """Whether this frame decides a transaction instead of holding rows."""
        return self.kind != DATA

    @property
    def is_transactional(self) -> bool:
        """Whether readers must know the transaction's outcome before they see the rows."""
        return bool(self.flags & TRANSACTIONAL)

    @property
    def transaction_key(self) -> tuple[int, int, int]:
        """Which transaction this frame belongs to, over the whole log."""
        return (self.writer_id, self.epoch, self.transaction)


def payload_checksum(payload: Bytes) -> int:
    """Give the checksum of a payload and the padding after it."""
    return crc32c(_PADDING[: -memoryview(payload).nbytes % ALIGNMENT], crc32c(payload))


def encode_frame(frame: Frame, payload: Bytes = b"", checksum: int | None = None) -> list[Bytes]:
    """Give the parts to write: header, payload, padding; its `checksum`, where it is known."""
    size = memoryview(payload).nbytes
    if not size:
        return [encode_header(frame._replace(payload_crc=0, payload_length=0))]
    sized = frame._replace(payload_length=size)
    known = payload_checksum(payload) if checksum is None else checksum
    padding = _PADDING[: sized.length - HEADER_SIZE - size]
    return [encode_header(sized._replace(payload_crc=known)), payload, padding]


def encode_header(frame: Frame) -> bytes:
    """Give the 128 bytes of a header, checksum included."""
    fields = frame._replace(version=VERSION, stored_length=frame.length)
    packed = bytearray(_LAYOUT.pack(MAGIC, 0, *fields))
    packed[4:8] = crc32c(memoryview(packed)[8:]).to_bytes(4, "little")
    return bytes(packed)


def decode_header(data: Bytes, start: int = 0) -> Frame | None:
    """Read a header at a position of a buffer; None where its checksum does not hold."""
    view = memoryview(data)[start : start + HEADER_SIZE]
    if view.nbytes < HEADER_SIZE:
        return None
    magic, checksum, *fields = _LAYOUT.unpack(view)
    if magic != MAGIC or checksum != crc32c(view[8:]):
        return None
    frame = Frame(*fields)
    if frame.version > VERSION:
        raise CorruptionError(
            "FRAME_VERSION",
            f"a frame has version {frame.version}, this Penstock reads up to {VERSION}",
            hint="Read this log with the newer Penstock that wrote it.",
        )
    return frame


def payload_is_intact(frame: Frame, stored: Bytes) -> bool:
    """Whether the bytes after a header (payload and padding) are those that were written."""
    return crc32c(stored) == frame.payload_crc if frame.payload_length else True
