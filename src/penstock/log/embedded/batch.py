"""Rows made ready for the disk before any lock is taken: encoded, cut into frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import TopicError
from penstock.log.embedded.frame import (
    CONTINUES,
    TRANSACTIONAL,
    Frame,
    encode_frame,
    payload_checksum,
)
from penstock.log.embedded.payload import Payload, encode_payload
from penstock.log.port import WriterStamp
from penstock.log.prepared import Prepared, PreparedPart
from penstock.log.record import TIMESTAMP_COLUMN
from penstock.log.rows import numbers, value_schema
from penstock.log.storage import Bytes
from penstock.log.topic import Topic

FRAME_BYTES = 4 * 1024 * 1024


class EncodedRows(NamedTuple):
    """The rows of one frame, encoded; the frame's place is not known yet."""

    payload: Payload
    records: int
    min_timestamp: int
    max_timestamp: int
    checksum: int | None = None


class Placement(NamedTuple):
    """Where and for whom a frame is written."""

    base_offset: int
    appended_at: int
    stamp: WriterStamp | None
    transaction: int | None
    continues: bool = False


def encode_rows(rows: pa.RecordBatch, topic: Topic) -> list[EncodedRows]:
    """Encode rows as one frame, or as several where they are large."""
    parts = max(1, -(-rows.nbytes // FRAME_BYTES))
    step = max(1, -(-rows.num_rows // parts))
    values = value_schema(topic)
    encoded = []
    for start in range(0, rows.num_rows, step):
        part = rows.slice(start, step)
        times = numbers(part.column(TIMESTAMP_COLUMN), np.int64)
        payload = encode_payload(part, values, topic.config.compression)
        encoded.append(EncodedRows(payload, part.num_rows, int(times.min()), int(times.max())))
    return encoded


def prepare_rows(rows: pa.RecordBatch, topic: Topic) -> Prepared:
    """Give fitted rows as they will lie in frames, with their checksums."""
    return Prepared(
        topic.topic_id,
        tuple(
            PreparedPart(
                part.payload.data,
                part.records,
                (
                    part.payload.flags,
                    part.payload.plain_length,
                    part.payload.codec,
                    part.min_timestamp,
                    part.max_timestamp,
                    payload_checksum(part.payload.data),
                ),
            )
            for part in encode_rows(rows, topic)
        ),
    )


def prepared_rows(prepared: Prepared, topic: Topic) -> list[EncodedRows]:
    """Give prepared rows as they are appended; for a topic that is gone they are refused."""
    if prepared.topic_id != topic.topic_id:
        raise TopicError(
            "TOPIC_MISSING",
            f'the topic "{topic.name}" that rows were prepared for was deleted',
            hint="Prepare them again for the topic that has its name now.",
        )
    return [_prepared(part) for part in prepared.parts]


def _prepared(part: PreparedPart) -> EncodedRows:
    flags, plain_length, codec, earliest, latest, checksum = part.form
    payload = Payload(pa.py_buffer(part.data), flags, plain_length, codec)
    return EncodedRows(payload, part.records, earliest, latest, checksum)


def place(rows: EncodedRows, at: Placement) -> tuple[Frame, list[Bytes]]:
    """Give the frame of encoded rows and the parts to write."""
    stamp = at.stamp
    frame = Frame(
        base_offset=at.base_offset,
        offset_span=rows.records - 1,
        records=rows.records,
        min_timestamp=rows.min_timestamp,
        max_timestamp=rows.max_timestamp,
        appended_at=at.appended_at,
        flags=rows.payload.flags
        | (0 if at.transaction is None else TRANSACTIONAL)
        | (CONTINUES if at.continues else 0),
        codec=rows.payload.codec,
        plain_length=rows.payload.plain_length,
        payload_length=rows.payload.data.size,
    )
    if stamp is not None:
        frame = frame._replace(
            writer_id=stamp.writer_id, epoch=stamp.epoch, sequence=stamp.sequence
        )
    if at.transaction is not None:
        frame = frame._replace(transaction=at.transaction)
    return frame, encode_frame(frame, rows.payload.data, rows.checksum)
