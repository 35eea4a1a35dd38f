"""Where the memory of a program run in this process is kept, whoever keeps it.

A snapshot is a consistent cut: a header, which says where the input was, and one blob for each
operator and bucket that remembers something. What happens to it in a crash is the store's affair:

memory      lost with the process; the next run reads its topics from the start
local       files of the checkpoint: kept over a crash, lost with the disk
changelog   files, and every change in a compacted topic: restored by replay where files are gone
external    a database: kept, whatever happens to this machine
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from penstock.log.port import Transaction
from penstock.setting_value import StateKind

Bucket: TypeAlias = tuple[str, int]
"""An operator, and the number of one of its buckets."""


@dataclass(slots=True)
class Cut:
    """A snapshot to be stored; blobs are made when asked for, and once."""

    number: int
    header: bytes
    buckets: frozenset[Bucket]
    changed: frozenset[Bucket]
    """Those whose state is not what it was in the snapshot before."""
    gone: frozenset[Bucket]
    """Those that remembered something in the snapshot before, and now nothing."""
    encode: Callable[[Bucket], bytes]
    _blobs: dict[Bucket, bytes] = field(default_factory=dict)

    def blob(self, bucket: Bucket) -> bytes:
        """Give the state of a bucket as bytes."""
        if bucket not in self._blobs:
            self._blobs[bucket] = self.encode(bucket)
        return self._blobs[bucket]


@dataclass(frozen=True, slots=True)
class Found:
    """A snapshot as it was stored, and where it was found."""

    number: int
    header: bytes
    blobs: Mapping[Bucket, bytes]
    origin: StateKind


class StateStore(Protocol):
    """Keeps the snapshots of one program; the last that counts is the one that is asked for."""

    @property
    def survives(self) -> bool:
        """Whether a snapshot is still there after a crash of the process."""

    def current(self) -> int | None:
        """Give the number of the snapshot that counts; none before the first."""

    def read(self, number: int) -> Found | None:
        """Give a snapshot; none where it is not there."""

    def write(self, cut: Cut, within: Transaction | None) -> None:
        """Store a snapshot, which counts once it is noted or its transaction is committed."""

    def note(self, number: int) -> None:
        """Let a snapshot count, and forget those before it."""

    def forget(self, number: int) -> None:
        """Forget all snapshots but one, which counts because its transaction is committed."""

    def clear(self) -> None:
        """Forget everything."""
