"""What compaction makes of one frame: the same, a smaller one, an empty one, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.log.embedded.frame import (
    CONTINUES,
    HAS_DELETED,
    HAS_KEYS,
    HAS_OFFSETS,
    HEADER_SIZE,
    NO_HORIZON,
    NO_WRITER,
    TRANSACTIONAL,
    Frame,
    encode_frame,
)
from penstock.log.embedded.head import NEWEST
from penstock.log.embedded.offset_map import OffsetMap, map_keys
from penstock.log.embedded.payload import decode_payload, encode_payload, offsets_of
from penstock.log.embedded.segment import StoredFrame
from penstock.log.embedded.transaction_trace import TransactionTrace
from penstock.log.embedded.writers import LastAppend
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.rows import value_schema
from penstock.log.storage import Bytes
from penstock.log.topic import Topic

_Mask = npt.NDArray[np.bool_]


class KeptFrame(NamedTuple):
    """A frame to be written, and whether it differs from the one that was read."""

    frame: Frame
    parts: Sequence[Bytes]
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRules:
    """What a pass knows before it looks at a frame.

    Keys are known up to and including `latest`; `first_uncleanable` is where the pass
    ends; `last_appends` are those by which writers are recognised.
    """

    newest: OffsetMap
    latest: int
    first_uncleanable: int
    last_appends: Mapping[int, LastAppend]
    now: int


class FrameFilter:
    """Decides about the frames of a partition, in order."""

    def __init__(self, topic: Topic, rules: PassRules, trace: TransactionTrace) -> None:
        self._topic = topic
        self._values = value_schema(topic)
        self._rules = rules
        self._trace = trace

    def filter(self, stored: StoredFrame) -> KeptFrame | None:
        """Give the frame to keep in place of one that was read; None where it goes."""
        frame = stored.frame
        if frame.is_marker:
            return self._filter_marker(stored)
        aborted = self._trace.meets_rows(frame)
        if aborted or not frame.records:
            return self._without_rows(stored)
        rows = decode_payload(frame, stored.buffer, stored.start, self._values)
        offsets = offsets_of(frame, rows)
        tombstones = self._tombstones(frame, rows)
        kept = self._kept_rows(frame, rows, offsets, tombstones)
        if not kept.any():
            return self._without_rows(stored)
        horizon = frame.delete_horizon
        if horizon == NO_HORIZON and (kept & tombstones).any():
            horizon = self._new_horizon()
        if kept.all():
            return _with_horizon(stored, horizon)
        return self._with_rows(frame._replace(delete_horizon=horizon), rows, offsets, kept)

    def _filter_marker(self, stored: StoredFrame) -> KeptFrame | None:
        frame = stored.frame
        alone = self._trace.meets_marker(frame)
        if not frame.records or (alone and self._horizon_passed(frame)):
            return self._without_rows(stored)
        if alone and frame.delete_horizon == NO_HORIZON:
            return _with_horizon(stored, self._new_horizon())
        return _unchanged(stored)

    def _kept_rows(
        self,
        frame: Frame,
        rows: pa.RecordBatch,
        offsets: npt.NDArray[np.int64],
        tombstones: _Mask,
    ) -> _Mask:
        beyond: _Mask = offsets > self._rules.latest
        if beyond.all() or not frame.flags & HAS_KEYS:
            return beyond
        column = rows.column(KEY_COLUMN)
        newest = offsets >= self._rules.newest.newest(map_keys(column))
        kept = newest & _valid(column)
        if self._horizon_passed(frame):
            kept &= ~tombstones
        return beyond | kept

    def _tombstones(self, frame: Frame, rows: pa.RecordBatch) -> _Mask:
        if self._topic.schema is None:
            return ~_valid(rows.column(VALUE_COLUMN))
        if not frame.flags & HAS_DELETED:
            return np.zeros(rows.num_rows, np.bool_)
        deleted = rows.column(DELETED_COLUMN).fill_null(False)  # noqa: FBT003  a value to fill in
        found: _Mask = deleted.to_numpy(zero_copy_only=False)
        return found

    def _with_rows(
        self, frame: Frame, rows: pa.RecordBatch, offsets: npt.NDArray[np.int64], kept: _Mask
    ) -> KeptFrame:
        if not frame.flags & HAS_OFFSETS:
            relative = (offsets - frame.base_offset).astype(np.int32)
            column = pa.Array.from_buffers(
                pa.int32(), len(relative), [None, pa.py_buffer(relative)]
            )
            rows = pa.RecordBatch.from_arrays(
                [column, *rows.columns], names=[OFFSET_COLUMN, *rows.schema.names]
            )
        chosen = rows.filter(_boolean_array(kept))
        times = chosen.column(TIMESTAMP_COLUMN).to_numpy(zero_copy_only=False)
        payload = encode_payload(chosen, self._values, self._topic.config.compression)
        smaller = frame._replace(
            flags=payload.flags | (frame.flags & (TRANSACTIONAL | CONTINUES)),
            records=chosen.num_rows,
            min_timestamp=int(times.min()),
            max_timestamp=int(times.max()),
            codec=payload.codec,
            plain_length=payload.plain_length,
            payload_length=payload.data.size,
        )
        return KeptFrame(smaller, encode_frame(smaller, payload.data), changed=True)

    def _without_rows(self, stored: StoredFrame) -> KeptFrame | None:
        frame = stored.frame
        if not self._must_stay(frame):
            return None
        if not frame.records:
            return _unchanged(stored)
        empty = frame._replace(
            flags=frame.flags & (TRANSACTIONAL | CONTINUES),
            records=0,
            codec=0,
            plain_length=0,
            payload_length=0,
            delete_horizon=NO_HORIZON,
        )
        return KeptFrame(empty, encode_frame(empty), changed=True)

    def _must_stay(self, frame: Frame) -> bool:
        """Whether a frame is needed even when it is empty.

        By its last frame a writer's next sequence is checked, by a marker without rows its
        epoch; the last frame of a pass says where the partition went on.
        """
        last = self._rules.last_appends.get(frame.writer_id)
        if frame.writer_id != NO_WRITER and last is not None:
            if last.offset is not None and frame.last_offset == last.offset:
                return True
            if last.offset is None and frame.is_marker and frame.epoch == last.epoch:
                return True
        return frame.next_offset == self._rules.first_uncleanable

    def _horizon_passed(self, frame: Frame) -> bool:
        return frame.delete_horizon != NO_HORIZON and frame.delete_horizon <= self._rules.now

    def _new_horizon(self) -> int:
        kept_for = self._topic.config.tombstone_retention // timedelta(milliseconds=1)
        return min(self._rules.now + kept_for, NEWEST)


def _unchanged(stored: StoredFrame) -> KeptFrame:
    return KeptFrame(
        stored.frame, [stored.buffer.slice(stored.start, stored.frame.length)], changed=False
    )


def _with_horizon(stored: StoredFrame, horizon: int) -> KeptFrame:
    frame = stored.frame
    if frame.delete_horizon == horizon:
        return _unchanged(stored)
    later = frame._replace(delete_horizon=horizon)
    payload = stored.buffer.slice(stored.start + HEADER_SIZE, frame.payload_length)
    return KeptFrame(later, encode_frame(later, payload), changed=True)


def _valid(column: pa.Array) -> _Mask:
    if not column.null_count:
        return np.ones(len(column), np.bool_)
    found: _Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return found


def _boolean_array(mask: _Mask) -> pa.Array:
    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits])
