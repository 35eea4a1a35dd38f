"""Follows transactions through a pass over the log, to know when a marker has done its work."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.log.embedded.aborted import AbortedTransaction
from penstock.log.embedded.frame import ABORT_MARKER, Frame


class TransactionTrace:
    """Knows which rows were aborted, and which markers still have frames before them."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._aborted = {item.key: item for item in aborted}
        self._seen: set[tuple[int, int, int]] = set()
        self._still_needed: list[AbortedTransaction] = []

    def meets_rows(self, frame: Frame) -> bool:
        """Take note of a frame with rows; give whether they belong to an aborted transaction."""
        if not frame.is_transactional:
            return False
        self._seen.add(frame.transaction_key)
        return frame.transaction_key in self._aborted

    def meets_marker(self, frame: Frame) -> bool:
        """Take note of a marker; give whether nothing of its transaction was met."""
        key = frame.transaction_key
        if not frame.records or key not in self._seen:
            return True
        self._seen.discard(key)
        if frame.kind == ABORT_MARKER and key in self._aborted:
            self._still_needed.append(self._aborted[key])
        return False

    def take_needed(self) -> tuple[AbortedTransaction, ...]:
        """Give, once, the aborted transactions whose frames and marker were both met."""
        found = tuple(self._still_needed)
        self._still_needed.clear()
        return found
