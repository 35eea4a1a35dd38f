"""`penstock topics dump`: the anatomy of a topic, from its partitions down to its records."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.counted import counted
from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, TopicArgument
from penstock.cli.output import talk, write_line
from penstock.cli.record_text import headers_text, json_line, record_document, value_text
from penstock.text.byte_text import line_text
from penstock.text.sizes import size_text
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.embedded.reader import PartitionReader
    from penstock.log.embedded.segment import StoredFrame
    from penstock.log.port import SegmentInfo
    from penstock.log.record import Record
    from penstock.log.topic import Topic

DEFAULT_MAX = 100
_KINDS = ("data", "commit marker", "abort marker")
_CODECS = ("none", "lz4", "zstd")


def dump(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    name: TopicArgument,
    *,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, help="Only this one.")
    ] = None,
    start: Annotated[
        int, typer.Option("--from", metavar="OFFSET", min=0, help="Begin at this offset.")
    ] = 0,
    most: Annotated[
        int, typer.Option("--max", metavar="N", min=1, help="Show at most this many records.")
    ] = DEFAULT_MAX,
    everything: Annotated[bool, typer.Option("--all", help="Show all records.")] = False,
    frames: Annotated[
        bool, typer.Option("--frames", help="Show the frames that hold the records, too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show what is stored: topic, partitions, segments, frames, records.

    Shows records of open and aborted transactions, too, which no consumer sees. With --json each
    line is one JSON object whose "kind" says what it is. Of a log on Kafka, which does not tell how
    it keeps them, partitions and records are shown.
    """
    with opened_log(context) as log:
        topic = log.topic(name)
        numbers = range(topic.partitions) if partition is None else [partition]
        for number in numbers:
            log.bounds(name, number)
        dumped = _Dump(log, topic, left=None if everything else most)
        dumped.writer = _write_json if json else _write_text
        dumped.shows_frames = frames
        dumped.write("topic", topic=name, partitions=topic.partitions)
        for number in numbers:
            dumped.write_partition(number, start)
    sys.stdout.flush()
    if dumped.is_cut:
        talk(f"{most} records shown; see more with --max N, --from OFFSET or --all")


class _Dump:
    """Walks through a topic and writes what it meets, up to a number of records."""

    def __init__(self, log: EmbeddedLog, topic: Topic, *, left: int | None) -> None:
        self._log = log
        self._topic = topic
        self._left = left
        self.is_cut = False
        self.shows_frames = False
        self.writer: Callable[[str, dict[str, Any]], None] = _write_text

    def write(self, kind: str, **facts: object) -> None:
        self.writer(kind, facts)

    def write_partition(self, number: int, start: int) -> None:
        bounds = self._log.bounds(self._topic.name, number, "uncommitted")
        self.write("partition", partition=number, start=bounds.start, end=bounds.end)
        segments = self._log.segments(self._topic.name, number)
        reader = self._log.partition(self._topic.name, number).reader if segments else None
        first = max(start, bounds.start)
        if first >= bounds.end:
            return
        if reader is None:
            self._write_records(self._read(number, first, bounds.end))
        else:
            self._write_segments(number, reader, segments, first)

    def _write_segments(
        self, number: int, reader: PartitionReader, segments: list[SegmentInfo], first: int
    ) -> None:
        shown: SegmentInfo | None = None
        for stored in reader.frames(reader.view(), first):
            if stored.frame.last_offset < first:
                continue
            if self._left == 0:
                self.is_cut = True
                return
            segment = _segment_of(segments, stored.frame.base_offset)
            if segment is not shown:
                shown = segment
                self._write_segment(segment)
            self._write_frame(number, stored, first)

    def _write_segment(self, segment: SegmentInfo) -> None:
        self.write("segment", **segment._asdict())

    def _write_frame(self, number: int, stored: StoredFrame, first: int) -> None:
        frame = stored.frame
        if self.shows_frames:
            facts = frame._asdict() | {
                "frame": _KINDS[frame.kind],
                "position": stored.position,
                "length": frame.length,
                "last_offset": frame.last_offset,
                "codec": _CODECS[frame.codec],
                "transactional": frame.is_transactional,
            }
            self.write("frame", **{name: facts[name] for name in _FRAME_FACTS})
        if frame.is_marker or not frame.records:
            return
        records = _records(self._topic, number, stored)
        self._write_records(record for record in records if record.offset >= first)

    def _read(self, number: int, offset: int, end: int) -> Iterator[Record]:
        """Give the records of a partition whose log does not tell how it keeps them."""
        from penstock.log.port import ReadLimit  # noqa: PLC0415  # Arrow
        from penstock.log.record import TopicPartition  # noqa: PLC0415
        from penstock.log.unpack import unpack  # noqa: PLC0415

        place, typed = TopicPartition(self._topic.name, number), self._topic.schema is not None
        limit = ReadLimit(stop=end, isolation="uncommitted")
        while offset < end:
            chunk = self._log.read(*place, offset, limit)
            yield from unpack(place, chunk.rows, typed=typed)
            offset = chunk.next_offset

    def _write_records(self, records: Iterable[Record]) -> None:
        for record in records:
            if self._left == 0:
                self.is_cut = True
                return
            if self._left is not None:
                self._left -= 1
            self.write("record", record=record)


_FRAME_FACTS = (
    "frame", "position", "length", "base_offset", "last_offset", "records", "min_timestamp",
    "max_timestamp", "appended_at", "writer_id", "epoch", "sequence", "transactional",
    "transaction", "codec",
)  # fmt: skip


def _segment_of(segments: list[SegmentInfo], offset: int) -> SegmentInfo:
    return segments[bisect_right(segments, offset, key=lambda item: item.base_offset) - 1]


def _records(topic: Topic, number: int, stored: StoredFrame) -> Iterator[Record]:
    from penstock.log.embedded.payload import (  # noqa: PLC0415  # Arrow
        complete_rows,
        decode_payload,
        offsets_of,
    )
    from penstock.log.record import TopicPartition  # noqa: PLC0415
    from penstock.log.rows import row_schema, value_schema  # noqa: PLC0415
    from penstock.log.unpack import unpack  # noqa: PLC0415

    rows = decode_payload(stored.frame, stored.buffer, stored.start, value_schema(topic))
    whole = complete_rows([rows], offsets_of(stored.frame, rows), row_schema(topic))
    yield from unpack(TopicPartition(topic.name, number), whole, typed=topic.schema is not None)


def _write_json(kind: str, facts: dict[str, object]) -> None:
    record: Record | None = facts.get("record")  # type: ignore[assignment]  # by its kind
    facts = facts if record is None else record_document(record)
    sys.stdout.write(json_line({"kind": kind, **facts}).decode())


def _write_text(kind: str, facts: dict[str, Any]) -> None:
    match kind:
        case "topic":
            line = f"topic {facts['topic']}, {counted(facts['partitions'], 'partition')}"
        case "partition":
            line = f"  partition {facts['partition']}, {_offsets(facts['start'], facts['end'])}"
        case "segment":
            line = f"    segment {facts['file']}, {_segment_text(facts)}"
        case "frame":
            line = f"      frame at byte {facts['position']}, {_frame_text(facts)}"
        case _:
            line = _record_text(facts["record"])
    write_line(line)


def _segment_text(facts: dict[str, Any]) -> str:
    text = f"{_offsets(facts['base_offset'], facts['next_offset'])}, {size_text(facts['size'])}"
    return f"{text}, active" if facts["active"] else text


def _frame_text(facts: dict[str, Any]) -> str:
    what = "" if facts["frame"] == "data" else f"{facts['frame']}, "
    text = f"{what}{_offsets(facts['base_offset'], facts['last_offset'] + 1)}"
    text += f", {size_text(facts['length'])}"
    if facts["codec"] != "none":
        text += f", {facts['codec']}"
    if facts["writer_id"] >= 0:
        text += f", writer {facts['writer_id']} epoch {facts['epoch']}"
        text += f" sequence {facts['sequence']}" if facts["sequence"] >= 0 else ""
    if facts["transaction"] >= 0:
        text += f", transaction {facts['transaction']}"
    return text


def _record_text(record: Record) -> str:
    key = "-" if record.key is None else line_text(record.key)
    text = f"        {record.offset}  {time_text(record.timestamp)}  {key}  "
    text += value_text(record.value)
    return f"{text}  ({headers_text(record.headers)})" if record.headers else text


def _offsets(first: int, following: int) -> str:
    if following <= first:
        return f"empty at offset {first}"
    if following == first + 1:
        return f"offset {first}"
    return f"offsets {first} to {following - 1}"
