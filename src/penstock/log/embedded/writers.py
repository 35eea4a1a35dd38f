"""What a partition knows of its writers: their epoch and their last appends.

With it a repeated append is recognised, a gap refused and a zombie fenced. The table is
kept in memory, follows the frames, and is saved now and then so that a new process need
not read the partition from its beginning.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.errors import RecordError, TransactionError
from penstock.log.embedded.frame import CONTINUES, NO_WRITER, Frame
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.port import Appended, WriterStamp

WRITERS_FILE = "writers"
REMEMBERED_APPENDS = 5
_FORGET_AFTER = 24 * 60 * 60 * 1000
_MOST_WRITERS = 10_000


class RememberedAppend(NamedTuple):
    """One of the last appends of a writer."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int


@dataclass(slots=True)
class WriterState:
    """The newest epoch of a writer and its last appends in that epoch."""

    epoch: int
    seen_at: int = 0
    appends: deque[RememberedAppend] = field(
        default_factory=lambda: deque(maxlen=REMEMBERED_APPENDS)
    )

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; -1 before the first."""
        return self.appends[-1].last_sequence if self.appends else -1


class LastAppend(NamedTuple):
    """By which frame a writer is recognised: its last with rows, or any marker of its epoch."""

    epoch: int
    offset: int | None


class WriterTable:
    """The writers of one partition, as of one change of its head."""

    def __init__(self) -> None:
        self._writers: dict[int, WriterState] = {}

    def __len__(self) -> int:
        """How many writers are remembered."""
        return len(self._writers)

    def check(self, stamp: WriterStamp, count: int) -> Appended | None:
        """Give the earlier append where this is its repeat, None where it may be written."""
        state = self._writers.get(stamp.writer_id)
        if state is None:
            return None
        if stamp.epoch > state.epoch:
            _refuse_gap(stamp, 0)
            return None
        if stamp.epoch < state.epoch:
            raise TransactionError(
                "WRITER_FENCED",
                f"writer {stamp.writer_id} of epoch {stamp.epoch} was replaced by epoch"
                f" {state.epoch}",
                hint="Another process took over this transactional id: close this producer.",
            )
        last_wanted = stamp.sequence + count - 1
        for known in state.appends:
            if (known.first_sequence, known.last_sequence) == (stamp.sequence, last_wanted):
                return Appended(known.base_offset, known.last_offset, duplicate=True)
        if state.appends:
            _refuse_gap(stamp, state.last_sequence + 1)
        return None

    def last_sequence(self, writer_id: int, epoch: int) -> int:
        """The last sequence a writer used in an epoch; -1 where it has not written."""
        state = self._writers.get(writer_id)
        return state.last_sequence if state is not None and state.epoch == epoch else -1

    def last_appends(self) -> dict[int, LastAppend]:
        """The last append of every writer."""
        return {
            writer_id: LastAppend(
                state.epoch, state.appends[-1].last_offset if state.appends else None
            )
            for writer_id, state in self._writers.items()
        }

    def follow(self, frame: Frame) -> None:
        """Take note of a frame that is now part of the partition."""
        if frame.writer_id == NO_WRITER:
            return
        state = self._writers.get(frame.writer_id)
        if state is None or frame.epoch > state.epoch:
            state = self._writers[frame.writer_id] = WriterState(frame.epoch)
            self._forget_old(frame.appended_at)
        if frame.epoch < state.epoch:
            return
        state.seen_at = frame.appended_at
        if frame.is_marker or frame.sequence < 0:
            return
        last = state.appends[-1] if state.appends else None
        if (
            last is not None
            and frame.flags & CONTINUES
            and last.last_sequence + 1 == frame.sequence
        ):
            state.appends[-1] = last._replace(
                last_sequence=frame.last_sequence, last_offset=frame.last_offset
            )
        else:
            state.appends.append(
                RememberedAppend(
                    frame.sequence, frame.last_sequence, frame.base_offset, frame.last_offset
                )
            )

    def to_bytes(self, change: int, active_base: int, position: int) -> bytes:
        """Give the table as a small file that says up to where it follows the partition."""
        return seal(
            {
                "change": change,
                "active_base": active_base,
                "position": position,
                "writers": [
                    [writer_id, state.epoch, state.seen_at, list(map(list, state.appends))]
                    for writer_id, state in self._writers.items()
                ],
            }
        )

    def _forget_old(self, now: int) -> None:
        if len(self._writers) <= _MOST_WRITERS:
            return
        oldest = now - _FORGET_AFTER
        kept = {
            writer_id: state
            for writer_id, state in self._writers.items()
            if state.seen_at >= oldest or not state.seen_at
        }
        self._writers = dict(list(kept.items())[-_MOST_WRITERS:])


def _refuse_gap(stamp: WriterStamp, expected: int) -> None:
    if stamp.sequence != expected:
        raise RecordError(
            "SEQUENCE_GAP",
            f"writer {stamp.writer_id} sent sequence {stamp.sequence}, expected {expected}",
            hint="An earlier append of this writer was lost or reordered: open a new producer.",
        )


class SavedWriters(NamedTuple):
    """A table read back, and the place in the partition up to which it is true."""

    table: WriterTable
    active_base: int
    position: int


def writers_from_bytes(data: bytes) -> SavedWriters | None:
    """Read a saved table; None where it is torn, so that it is built anew from the frames."""
    saved = unseal(data)
    if saved is None:
        return None
    table = WriterTable()
    for writer_id, epoch, seen_at, appends in saved["writers"]:
        remembered = deque((RememberedAppend(*item) for item in appends), REMEMBERED_APPENDS)
        table._writers[writer_id] = WriterState(epoch, seen_at, remembered)  # noqa: SLF001
    return SavedWriters(table, saved["active_base"], saved["position"])
