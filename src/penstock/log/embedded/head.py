"""The head of a partition: where it begins and ends, as of the last acknowledged append.

Readers see nothing beyond the head, so they never meet a torn frame. Two slots are
written one after the other, each with a sequence number and a checksum: a torn update
or a flipped bit leaves the other one valid.
"""

from __future__ import annotations

import functools
import struct
import time
from dataclasses import dataclass, replace
from typing import NamedTuple

from crc32c import crc32c

from penstock.errors import CorruptionError, TransactionError
from penstock.log.storage import File

MAGIC = b"PNHD"
SLOT_SIZE = 4096
HEAD_FILE = "head"

OLDEST = -(2**63)
NEWEST = 2**63 - 1
_FIXED = struct.Struct("<4sIHHIq16sqqqqqqqqqqqqq")
_OPEN = struct.Struct("<qqqq")
MAX_OPEN_TRANSACTIONS = (SLOT_SIZE - _FIXED.size) // _OPEN.size
_DELETED = 1
_TRIES = 20
_PAUSE = 0.001


class OpenTransaction(NamedTuple):
    """A transaction that has rows in this partition and no marker yet."""

    writer_id: int
    epoch: int
    number: int
    first_offset: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Which transaction this is, over the whole log."""
        return (self.writer_id, self.epoch, self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The published state of a partition."""

    change: int = 0
    boot: bytes = bytes(16)
    start_offset: int = 0
    end_offset: int = 0
    active_base: int = 0
    end_position: int = 0
    active_records: int = 0
    active_min_timestamp: int = NEWEST
    active_max_timestamp: int = OLDEST
    active_since: int = -1
    manifest_generation: int = 0
    aborted_count: int = 0
    sealed_count: int = 0
    marker_count: int = 0
    synced_position: int = 0
    open: tuple[OpenTransaction, ...] = ()
    deleted: bool = False

    @property
    def stable_offset(self) -> int:
        """The first offset whose fate no marker has decided yet."""
        return min((item.first_offset for item in self.open), default=self.end_offset)


def encode_head(head: Head) -> bytes:
    """Give the bytes of one slot."""
    if len(head.open) > MAX_OPEN_TRANSACTIONS:
        raise TransactionError(
            "TRANSACTION_LIMIT",
            f"{len(head.open)} transactions are open on one partition",
            hint=f"Let some finish: a partition holds up to {MAX_OPEN_TRANSACTIONS} at a time.",
        )
    packed = bytearray(
        _FIXED.pack(
            MAGIC,
            0,
            1,
            _DELETED if head.deleted else 0,
            len(head.open),
            head.change,
            head.boot,
            head.start_offset,
            head.end_offset,
            head.active_base,
            head.end_position,
            head.active_records,
            head.active_min_timestamp,
            head.active_max_timestamp,
            head.active_since,
            head.manifest_generation,
            head.aborted_count,
            head.sealed_count,
            head.marker_count,
            head.synced_position,
        )
    )
    for item in head.open:
        packed += _OPEN.pack(*item)
    packed[4:8] = crc32c(memoryview(packed)[8:]).to_bytes(4, "little")
    return bytes(packed)


def decode_head(slot: bytes | memoryview) -> Head | None:
    """Read one slot; None where it is torn or was never written."""
    view = memoryview(slot)
    if view.nbytes < _FIXED.size or view[:4] != MAGIC:
        return None
    fields = _FIXED.unpack(view[: _FIXED.size])
    size = _FIXED.size + fields[4] * _OPEN.size
    if size > view.nbytes or fields[1] != crc32c(view[8:size]):
        return None
    return Head(
        deleted=bool(fields[3] & _DELETED),
        open=tuple(OpenTransaction(*item) for item in _OPEN.iter_unpack(view[_FIXED.size : size])),
        change=fields[5],
        boot=fields[6],
        start_offset=fields[7],
        end_offset=fields[8],
        active_base=fields[9],
        end_position=fields[10],
        active_records=fields[11],
        active_min_timestamp=fields[12],
        active_max_timestamp=fields[13],
        active_since=fields[14],
        manifest_generation=fields[15],
        aborted_count=fields[16],
        sealed_count=fields[17],
        marker_count=fields[18],
        synced_position=fields[19],
    )


def read_head(file: File, path: str) -> Head:
    """Give the newest valid slot."""
    for _ in range(_TRIES):
        data = file.read_at(0, 2 * SLOT_SIZE)
        # Mostly both slots are the same, and the same as at the last look.
        slots = {data[:SLOT_SIZE], data[SLOT_SIZE:]}
        valid = [head for slot in slots if (head := _decoded(slot)) is not None]
        if valid:
            return max(valid, key=lambda head: head.change)
        # A reader held up in mid-read may have met one slot after the other being written.
        time.sleep(_PAUSE)
    raise CorruptionError(
        "HEAD_CORRUPT",
        f'both slots of the head file "{path}" fail their checksum (byte 0 and {SLOT_SIZE})',
        hint="Run `penstock log repair` to rebuild the head from the segments.",
    )


@functools.lru_cache(maxsize=1024)
def _decoded(slot: bytes) -> Head | None:
    return decode_head(slot)


def publish_head(file: File, head: Head) -> Head:
    """Write the next head into both slots, one after the other; readers see it from now on.

    A tear in the first leaves the head before in the second; a bit that flips later in one
    leaves the other.
    """
    following = replace(head, change=head.change + 1)
    slot = encode_head(following)
    first = (following.change % 2) * SLOT_SIZE
    file.write_at(first, [slot])
    file.write_at(SLOT_SIZE - first, [slot])
    return following


def create_head(file: File, head: Head) -> None:
    """Lay out a new head file at its full size, so that later updates never need disk space."""
    slot = encode_head(head).ljust(SLOT_SIZE, b"\0")
    file.write_at(0, [slot, slot])
