"""The aborted transactions of a partition, so that readers know which frames to pass over."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from crc32c import crc32c

from penstock.errors import CorruptionError
from penstock.log.storage import Storage

_ENTRY = struct.Struct("<qqqqqI4x")
ENTRY_SIZE = _ENTRY.size


class AbortedTransaction(NamedTuple):
    """A transaction whose rows nobody may see, and where they lie."""

    writer_id: int
    epoch: int
    number: int
    first_offset: int
    last_offset: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Which transaction this is, over the whole log."""
        return (self.writer_id, self.epoch, self.number)


def aborted_file(generation: int) -> str:
    """Name the file that goes with one generation of the manifest."""
    return f"aborted-{generation}"


def encode_aborted(items: Iterable[AbortedTransaction]) -> bytes:
    """Give the bytes of entries, each with its checksum."""
    return b"".join(_ENTRY.pack(*item, crc32c(_ENTRY.pack(*item, 0))) for item in items)


def read_aborted(storage: Storage, path: str, count: int) -> tuple[AbortedTransaction, ...]:
    """Read the first entries, as many as the head says; a flipped bit is named."""
    if count == 0:
        return ()
    data = storage.read(path)
    found = []
    for start in range(0, count * ENTRY_SIZE, ENTRY_SIZE):
        entry = data[start : start + ENTRY_SIZE]
        *fields, checksum = _ENTRY.unpack(entry) if len(entry) == ENTRY_SIZE else (0, 0, 0, 0, 0, 0)
        if len(entry) < ENTRY_SIZE or checksum != crc32c(_ENTRY.pack(*fields, 0)):
            raise CorruptionError(
                "ABORTED_CORRUPT",
                f'the list of aborted transactions "{path}" fails its checksum at byte {start}',
                hint="Run `penstock log repair` to rebuild the list from the segments.",
            )
        found.append(AbortedTransaction(*fields))
    return tuple(found)
