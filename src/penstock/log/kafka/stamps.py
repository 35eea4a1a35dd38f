"""Repeats of an append, recognised by the handle that made it.

Kafka recognises what a producer sends twice within its session; a stamp that another process gives
again it does not know. So a log of Kafka lacks the capability, and keeps this much of the promise.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from penstock.errors import RecordError, TransactionError
from penstock.log.port import Appended, WriterStamp
from penstock.log.record import TopicPartition

_MOST = 10_000


class Stamps:
    """What writers appended through this handle last."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._last: OrderedDict[tuple[TopicPartition, int], tuple[WriterStamp, Appended]] = (
            OrderedDict()
        )

    def check(self, place: TopicPartition, stamp: WriterStamp, count: int) -> Appended | None:
        """Give the earlier append where this is its repeat, None where it may be written."""
        with self._guard:
            known = self._last.get((place, stamp.writer_id))
        if known is None or stamp.epoch > known[0].epoch:
            return None
        last, done = known
        if stamp.epoch < last.epoch:
            raise TransactionError(
                "WRITER_FENCED",
                f"writer {stamp.writer_id} of epoch {stamp.epoch} was replaced by epoch"
                f" {last.epoch}",
                hint="Another one took over this writer's id: close this producer.",
            )
        length = done.last_offset - done.base_offset + 1
        if (stamp.sequence, count) == (last.sequence, length):
            return done._replace(duplicate=True)
        if stamp.sequence != last.sequence + length:
            raise RecordError(
                "SEQUENCE_GAP",
                f"writer {stamp.writer_id} sends record {stamp.sequence}, record"
                f" {last.sequence + length} is next",
                hint="An append before it failed: send that one first, or start with a new writer.",
            )
        return None

    def note(self, place: TopicPartition, stamp: WriterStamp, done: Appended) -> None:
        """Remember an append."""
        with self._guard:
            self._last[place, stamp.writer_id] = (stamp, done)
            self._last.move_to_end((place, stamp.writer_id))
            while len(self._last) > _MOST:
                self._last.popitem(last=False)
