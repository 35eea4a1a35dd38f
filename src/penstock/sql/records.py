"""Records of sources: written by INSERT INTO ... VALUES, looked at by PRINT and ASSERT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.assertion import Expected
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.insert import Inserted
from penstock.front.sql.record import Part
from penstock.front.sql.rows import GONE, HEADERS, KEY, OFFSET, PARTITION, TIMESTAMP, VALUE, Opening
from penstock.front.sql.source import ROW_TIME, SqlSource
from penstock.front.sql.typed_format import is_typed
from penstock.kernel.expression import lower
from penstock.log.port import Log
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition, Value
from penstock.log.stretch import tables_between
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32
from penstock.sql.typed_records import typed_record

_NOTHING = Schema((Field("_", INT32),))


def insert(log: Log, inserted: Inserted) -> int:
    """Write rows as records of their source; give how many."""
    source = inserted.source
    encoded = [_record(source, row) for row in inserted.rows]
    producer = Producer(log)
    try:
        for key, value, time in encoded:
            producer.send(source.topic, value, key=key, timestamp=time)
        producer.flush()
    finally:
        producer.close()
    return len(encoded)


def check_expected(log: Log, expected: Expected, place: int) -> None:
    """Refuse where the record at a place of a source is not as ASSERT says."""
    topic = expected.source.topic
    records = list(records_of(log, topic))
    if place >= len(records):
        raise SqlError(
            "SQL_ASSERT",
            f'"{expected.source.name}" has {len(records)} records, and no further one',
            hint="Its query may not have written it yet.",
        )
    found = Opening(expected.source).row(records[place])
    wanted = {name: _constant(typed) for name, typed in expected.row.items()}
    differing = [name for name, value in wanted.items() if found.get(name) != value]
    if differing or bool(found[GONE]) != expected.tombstone:
        shown = {name: found.get(name) for name in wanted}
        raise SqlError(
            "SQL_ASSERT",
            f'record {place} of "{expected.source.name}" is {shown}, not {wanted}',
            hint="Correct the script, or the query that writes it.",
        )


def records_of(log: Log, topic: str) -> Iterator[dict[str, Any]]:
    """Give the records of a topic of bytes that are there now, in the order of their times."""
    require_topic(log, topic)
    found: list[dict[str, Any]] = []
    for at, bounds in log.snapshot([topic]).items():
        found += read_records(log, at, bounds.start, bounds.end)
    yield from sorted(found, key=lambda record: record[TIMESTAMP])


def read_records(log: Log, at: TopicPartition, start: int, end: int) -> Iterator[dict[str, Any]]:
    """Give the records of a partition from an offset up to another."""
    for table in tables_between(log, at, start, end):
        for row in table.to_pylist():
            columns = {name: row.get(name) for name in (KEY, VALUE, TIMESTAMP, OFFSET)}
            yield {**columns, HEADERS: row.get(HEADERS) or [], PARTITION: at.partition}


def require_topic(log: Log, topic: str, *, typed: bool = False) -> None:
    """Refuse a topic that is not there, or that has columns of its own where none are known."""
    known = log.topics()
    if topic not in known:
        raise SqlError(
            "SQL_TOPIC_MISSING",
            f'topic "{topic}" does not exist',
            hint=did_you_mean(topic, known) or "SHOW TOPICS lists those there are.",
        )
    if log.topic(topic).schema is not None and not typed:
        raise SqlError(
            "SQL_TOPIC",
            f'topic "{topic}" has columns of its own, and SQL reads bytes',
            hint="Look at it with `penstock consume`, or make a source of it: FORMAT='TYPED'.",
        )


def _record(source: SqlSource, row: Mapping[str, Typed]) -> tuple[bytes | None, Value, int | None]:
    values = {name: _constant(typed) for name, typed in row.items()}
    whole = {**dict.fromkeys(column.name for column in source.columns), **values}
    empty = [column.name for column in source.keys if whole[column.name] is None]
    if source.is_table and empty:
        raise SqlError(
            "SQL_INSERT",
            f'the primary key "{empty[0]}" of table "{source.name}" has no value',
            hint="Give it one: it tells the rows apart.",
        )
    if source.window is not None:
        raise SqlError(
            "SQL_INSERT",
            f'the keys of "{source.name}" lie in windows, which VALUES cannot say',
            hint="Write to what its query reads.",
        )
    if is_typed(source):
        return *typed_record(source, whole), values.get(ROW_TIME)
    try:
        key = Part(source.key_format, source.keys).write(whole)
        value = Part(source.value_format, source.stored).write(whole)
    except ValueError as error:
        raise SqlError(
            "SQL_INSERT",
            f'a row for "{source.name}" cannot be written: {error}',
            hint="Give values that its columns and formats can hold.",
        ) from error
    return key, value, values.get(ROW_TIME)


def _constant(typed: Typed) -> Any:  # noqa: ANN401  # a value of any type
    frame = pl.DataFrame({"_": [0]}, schema={"_": pl.Int32})
    try:
        return frame.select(lower(typed.expr, _NOTHING).alias("it")).row(0)[0]
    except pl.exceptions.PolarsError as error:
        raise SqlError(
            "SQL_INSERT",
            f"a value cannot be computed: {next(iter(str(error).splitlines()), '')}",
            hint="Give a value of the column's type.",
        ) from error
