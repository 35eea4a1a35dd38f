"""Plays the scripts of Kafka's log cleaner and compares what each pass leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.log.embedded.cleanable import CleanableRange
from penstock.log.embedded.compaction import Cleaning, CompactionPass
from penstock.log.embedded.frame import NO_WRITER, Frame
from penstock.log.embedded.payload import decode_payload, offsets_of
from penstock.log.port import WriterStamp
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.log.rows import BYTES_SCHEMA
from penstock.log.topic import TopicConfig
from tests.conformance.kafka_partition_log import PartitionLog
from tests.conformance.runner import Case, same

Fields: TypeAlias = dict[str, Any]
_DAY = 24 * 60 * 60 * 1000
_MANY_SLOTS = 1000


def check_compaction_script(case: Case) -> None:
    """Do the steps; at each check compare with the next expectation."""
    script = _Script(case.given.get("config", {}))
    checks = iter(case.expect["checks"])
    for step in case.given["steps"]:
        if step["do"] == "check":
            script.compare(next(checks))
        else:
            script.take(step)
    same(list(checks), [], "checks not made")


class _Script:
    def __init__(self, config: Fields) -> None:
        self._slots = config.get("map_slots", _MANY_SLOTS)
        kept_for = timedelta(milliseconds=config.get("delete_retention_ms", _DAY))
        self._log = PartitionLog(
            TopicConfig(cleanup="compact", segment_age=None, tombstone_retention=kept_for)
        )
        self._first_dirty = 0

    def take(self, step: Fields) -> None:
        match step["do"]:
            case "append":
                self._append(step)
            case "tombstone":
                self._log.append([_bytes(step["key"])], values=[None])
            case "marker":
                self._log.mark(step["producer"], committed=step["type"] == "commit")
            case "roll":
                self._log.roll(step.get("base"))
            case "clean":
                self._clean(step)
            case other:
                raise AssertionError(f"step {other} exists")

    def compare(self, wanted: Fields) -> None:
        for name, value in wanted.items():
            found = _LOOKS[name](self)
            same(found, _as_text(value) if name == "keys" else value, name)

    def first_dirty(self) -> int:
        return self._first_dirty

    def keys(self) -> list[str]:
        return [key for key, _ in self._records_with_value()]

    def offsets(self) -> list[int]:
        markers = [
            frame.base_offset for frame, _ in self._frames() if frame.is_marker and frame.records
        ]
        return sorted([*markers, *(offset for _, offset in self._records_with_value())])

    def batch_base_offsets(self) -> list[int]:
        return [frame.base_offset for frame, _ in self._frames()]

    def batch_last_offsets(self) -> list[int]:
        return [frame.last_offset for frame, _ in self._frames()]

    def last_sequences(self) -> dict[str, int]:
        return {
            str(frame.writer_id): frame.last_sequence
            for frame, _ in self._frames()
            if frame.writer_id != NO_WRITER and not frame.is_marker
        }

    def aborted_transactions(self) -> list[list[int]]:
        aborted = self._log.partition.reader.view().aborted
        return [[item.writer_id, item.first_offset, item.last_offset] for item in aborted]

    def _append(self, step: Fields) -> None:
        keys = [_bytes(key) for key in step["keys"]]
        values = [_bytes(value) for value in step.get("values") or step["keys"]]
        producer = step.get("producer")
        if producer is None:
            self._log.append(keys, values=values)
            return
        stamp = self._log.next_stamp(producer, len(keys))
        number = self._log.transaction_of(producer) if step.get("transactional") else None
        if "sequence" in step:
            stamp = WriterStamp(producer, 0, step["sequence"])
            self._log.append_as_replica(keys, values=values, stamp=stamp, transaction=number)
        else:
            self._log.append(keys, values=values, stamp=stamp, transaction=number)

    def _clean(self, step: Fields) -> None:
        begin = self._first_dirty if step["from"] == "last" else step["from"]
        partition = self._log.partition
        span = CleanableRange(begin, partition.reader.head().active_base)
        cleaning = Cleaning(self._log.storage, partition, self._log.topic, self._slots)
        self._first_dirty = CompactionPass(cleaning, span, step["at"]).run().first_dirty

    def _frames(self) -> list[tuple[Frame, list[tuple[bytes, int]]]]:
        reader = self._log.partition.reader
        found = []
        for stored in reader.frames(reader.view(), 0):
            records: list[tuple[bytes, int]] = []
            frame = stored.frame
            if frame.records and not frame.is_marker:
                rows = decode_payload(frame, stored.buffer, stored.start, BYTES_SCHEMA)
                offsets = offsets_of(frame, rows).tolist()
                keys = rows.column(KEY_COLUMN).to_pylist()
                values = rows.column(VALUE_COLUMN).to_pylist()
                records = [
                    (key, offset)
                    for key, offset, value in zip(keys, offsets, values, strict=True)
                    if value is not None
                ]
            found.append((frame, records))
        return found

    def _records_with_value(self) -> list[tuple[str, int]]:
        return [(key.decode(), offset) for _, records in self._frames() for key, offset in records]


_LOOKS: Mapping[str, Callable[[_Script], object]] = {
    "first_dirty": _Script.first_dirty,
    "keys": _Script.keys,
    "offsets": _Script.offsets,
    "batch_base_offsets": _Script.batch_base_offsets,
    "batch_last_offsets": _Script.batch_last_offsets,
    "last_sequences": _Script.last_sequences,
    "aborted_transactions": _Script.aborted_transactions,
}


def _bytes(value: object) -> bytes:
    return str(value).encode()


def _as_text(values: list[object]) -> list[str]:
    return list(map(str, values))
