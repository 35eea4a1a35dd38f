"""Snapshots in memory: nothing is written, and a crash loses all of them."""

from __future__ import annotations

from penstock.inline.state_store import Cut, Found
from penstock.log.port import Transaction


class MemoryStore:
    """Keeps the last snapshot as long as this object lives."""

    survives = False

    def __init__(self) -> None:
        self._written: dict[int, Found] = {}
        self._current: int | None = None

    def current(self) -> int | None:
        """Give the number of the snapshot that counts; none before the first."""
        return self._current

    def read(self, number: int) -> Found | None:
        """Give a snapshot; none where it is not there."""
        return self._written.get(number)

    def write(self, cut: Cut, within: Transaction | None) -> None:  # noqa: ARG002
        """Keep a snapshot."""
        blobs = {bucket: cut.blob(bucket) for bucket in cut.buckets}
        self._written[cut.number] = Found(cut.number, cut.header, blobs, "memory")

    def note(self, number: int) -> None:
        """Let a snapshot count, and forget those before it."""
        self._current = number
        self.forget(number)

    def forget(self, number: int) -> None:
        """Forget all snapshots but one."""
        self._written = {kept: found for kept, found in self._written.items() if kept == number}

    def clear(self) -> None:
        """Forget everything."""
        self._written, self._current = {}, None
