"""Records as JSON says them, on their way into a topic."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK
from penstock.config import load_settings
from penstock.errors import RecordError, SchemaError
from penstock.log.buffer import TopicBuffer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.partitioner import DefaultPartitioner
from penstock.log.record import KEY_COLUMN, Headers, Value
from penstock.log.rows import integer_array, record_sizes
from penstock.log.topic import Topic
from penstock.schema.binding import bindings_of, serde_format
from penstock.schema.codec.codecs import format_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.schemas import Schemas
from penstock.schema.serde import Serde, writing_serde
from penstock.text.byte_text import bytes_of_json
from penstock.text.json_row import parse_row
from penstock.text.times import parse_timestamp

_TRANSACTION = "http-records"
_BASE64 = {"base64"}
_LATEST = 253_402_300_799_999


class Outgoing(NamedTuple):
    """A record as JSON says it."""

    value: Any
    key: Any = None
    headers: Sequence[tuple[str, Any]] = ()
    timestamp: int | str | None = None
    partition: int | None = None


class Landed(NamedTuple):
    """Where a record is now."""

    partition: int
    offset: int


class RecordWriter:
    """Writes records to topics: typed ones by their columns, others as text, JSON or a format.

    Atomic writes of one server take turns, each a transaction.
    """

    def __init__(self, log: EmbeddedLog, schemas: Schemas) -> None:
        self._log = log
        self._schemas = schemas
        self._partitioner = DefaultPartitioner()
        self._turn = threading.Lock()

    def write(
        self, topic: str, records: Sequence[Outgoing], *, format_: str = "", atomic: bool = False
    ) -> list[Landed]:
        """Append records in their order; give where each one is."""
        described = self._log.topic(topic)
        rows = self._rows(described, records, format_)
        chosen = self._chosen(described, rows, records)
        offsets = np.empty(len(records), np.int64)
        if atomic:
            self._append_at_once(topic, rows, chosen, offsets)
        else:
            for number, places, part in _parts(rows, chosen):
                done = self._log.append(topic, number, part)
                offsets[places] = np.arange(done.base_offset, done.base_offset + len(places))
        found = zip(chosen.tolist(), offsets.tolist(), strict=True)
        return [Landed(partition, offset) for partition, offset in found]

    def _append_at_once(
        self,
        topic: str,
        rows: pa.Table,
        chosen: np.ndarray[Any, Any],
        offsets: np.ndarray[Any, Any],
    ) -> None:
        with self._turn, closing(self._log.transaction(_TRANSACTION)) as transaction:
            transaction.begin()
            for number, places, part in _parts(rows, chosen):
                done = transaction.append(topic, number, part)
                offsets[places] = np.arange(done.base_offset, done.base_offset + len(places))
            transaction.commit()

    def _chosen(
        self, topic: Topic, rows: pa.Table, records: Sequence[Outgoing]
    ) -> np.ndarray[Any, Any]:
        given = np.asarray(
            [-1 if one.partition is None else one.partition for one in records], np.int32
        )
        for number in np.unique(given[given >= 0]).tolist():
            self._log.bounds(topic.name, number)
        keys = rows.column(KEY_COLUMN).combine_chunks() if KEY_COLUMN in rows.column_names else None
        with self._turn:
            free = self._partitioner.partition(
                topic.name, keys, record_sizes(rows), topic.partitions
            )
        return np.where(given < 0, free, given)

    def _rows(self, topic: Topic, records: Sequence[Outgoing], format_: str) -> pa.Table:
        buffer = TopicBuffer(topic)
        now = SYSTEM_CLOCK.now()
        values = self._values(topic, records, format_)
        buffer.values = values
        for number, record in enumerate(records):
            buffer.keys.append(_bytes(record.key, number, "key"))
            buffer.headers.append(_headers(record.headers, number))
            buffer.timestamps.append(_timestamp(record.timestamp, now, number))
        buffer.has_keys = any(key is not None for key in buffer.keys)
        buffer.has_headers = any(buffer.headers)
        return buffer.rows()

    def _values(self, topic: Topic, records: Sequence[Outgoing], format_: str) -> list[Value]:
        if topic.schema is not None:
            return [_typed(one.value, topic.schema, number) for number, one in enumerate(records)]
        serde = self._serde(topic.name, format_)
        if serde is None:
            return [_bytes(one.value, number, "value") for number, one in enumerate(records)]
        return list(_written(serde, [one.value for one in records]))

    def _serde(self, topic: str, format_: str) -> Serde | None:
        settings = load_settings()
        found: Format | None
        if format_:
            named = format_ in settings.serdes
            found = serde_format(format_, settings.serdes) if named else format_of(format_)
        else:
            bound = bindings_of(settings.serdes, settings.topics).get(topic)
            found = None if bound is None else bound.value
        if found is None:
            return None
        try:
            return writing_serde(topic, found, None, self._schemas)
        except SchemaError as error:
            if error.code == "FORMAT_SCHEMA" and not format_:
                # Bound to a format that does not say columns: written as it is.
                return None
            raise


def _parts(
    rows: pa.Table, chosen: np.ndarray[Any, Any]
) -> Iterator[tuple[int, np.ndarray[Any, Any], pa.Table]]:
    for number in np.unique(chosen).tolist():
        places = np.flatnonzero(chosen == number)
        part = rows if len(places) == rows.num_rows else rows.take(integer_array(places))
        yield number, places, part


def _typed(value: Any, schema: pa.Schema, number: int) -> Value:  # noqa: ANN401  # what JSON holds
    if value is None:
        return None
    try:
        if not isinstance(value, Mapping):
            raise ValueError("has a value that is not an object of columns")  # noqa: TRY004, TRY301
        return parse_row(value, schema)
    except ValueError as error:
        raise _unfit(number, str(error)) from None


def _written(serde: Serde, values: Sequence[Any]) -> Iterator[bytes | None]:
    for number, value in enumerate(values):
        if value is None:
            yield None
        elif not isinstance(value, Mapping):
            raise _unfit(number, "has a value that is not an object of columns")
        else:
            (found,) = serde.write(_row(serde, value, number)).column("value").to_pylist()
            yield found


def _row(serde: Serde, value: Mapping[str, Any], number: int) -> pa.Table:
    from penstock.schema.arrow import to_arrow  # noqa: PLC0415

    schema = to_arrow(serde.schema)
    try:
        return pa.Table.from_pylist([parse_row(value, schema)], schema)
    except ValueError as error:
        raise _unfit(number, str(error)) from None


def _bytes(value: Any, number: int, member: str) -> bytes | None:  # noqa: ANN401  # what JSON holds
    """Give the bytes of a text, of `{"base64": ...}`, or of anything else as JSON."""
    if value is None or isinstance(value, str):
        return None if value is None else value.encode("utf-8", "surrogatepass")
    if isinstance(value, Mapping) and set(value) == _BASE64:
        try:
            return bytes_of_json(dict(value))
        except ValueError:
            raise _unfit(number, f"has a {member} whose base64 cannot be read") from None
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def _headers(headers: Sequence[tuple[str, Any]], number: int) -> Headers:
    for name, _ in headers:
        if not name.isprintable():
            raise _unfit(number, "has a header whose name cannot be printed")
    return tuple((name, _bytes(value, number, "header")) for name, value in headers)


def _timestamp(said: int | str | None, now: int, number: int) -> int:
    if said is None:
        return now
    found = said if isinstance(said, int) else parse_timestamp(said)
    if abs(found) > _LATEST:
        raise _unfit(number, "has a timestamp beyond all calendars")
    return found


def _unfit(number: int, what: str) -> RecordError:
    return RecordError(
        "RECORD_UNFIT",
        f"record {number} {what}",
        hint="Correct it; none of these records was written.",
    )
