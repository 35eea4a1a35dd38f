"""Records as JSON has them: for the API, the pages and whoever follows a topic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson
import pyarrow as pa

from penstock.config import Settings, load_settings
from penstock.errors import PenstockError
from penstock.front.sql.source import SqlSource
from penstock.log.port import Log
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    PARTITION_COLUMN,
    SYSTEM_COLUMNS,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.rows import binary_array
from penstock.schema.binding import Bound, bindings_of
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.subject import with_subject
from penstock.serve.declared_part import DeclaredPart
from penstock.serve.value_by_id import ValuesById
from penstock.text.byte_text import json_cell, json_value

Row: TypeAlias = dict[str, Any]
"""A record: partition, offset, timestamp, key, value, headers; `problem` where it is unreadable."""

_OPENS = b"{["
_READ = (bool, int, str)


def decoded(
    log: Log, registry: Schemas, topic: str, table: pa.Table, *, partition: int = 0
) -> list[Row]:
    """Give rows of a topic as JSON has them; `_partition` is taken from the rows if they have it.

    Whoever reads a topic again and again keeps a `RecordRows`.
    """
    return RecordRows(log, registry, topic).rows(table, partition=partition)


class RecordRows:
    """Gives the records of one topic as JSON has them.

    Typed topics by their columns; bytes by the format their topic is bound to, by the schema whose
    id they begin with, by what a stream or table of SQL declares, as JSON where they are an object
    or a list, and else as text. What cannot be read is given as it is (`{"base64": ...}` where it
    is no text), with its `problem`.
    """

    def __init__(
        self,
        log: Log,
        registry: Schemas,
        topic: str,
        *,
        settings: Settings | None = None,
        declared: SqlSource | None = None,
    ) -> None:
        self._typed = log.topic(topic).schema is not None
        bound = Bound() if self._typed else _bound(settings or load_settings(), topic)
        self._keys = _bound_codec(bound, topic, "key", registry)
        self._values = _bound_codec(bound, topic, "value", registry)
        self._by_id = ValuesById(registry)
        self._declared_keys = None if declared is None else DeclaredPart.of_key(declared)
        self._declared_values = None if declared is None else DeclaredPart.of_value(declared)

    def rows(self, table: pa.Table, *, partition: int = 0) -> list[Row]:
        """Give the records of a table as the log gives it."""
        count = table.num_rows
        partitions = (
            table.column(PARTITION_COLUMN).to_pylist()
            if PARTITION_COLUMN in table.column_names
            else [partition] * count
        )
        problems: dict[int, str] = {}
        keys = self._read(
            _column(table, KEY_COLUMN), self._keys, {}, _Otherwise(self._declared_keys, json_value)
        )
        found = zip(
            partitions,
            _column(table, OFFSET_COLUMN),
            _column(table, TIMESTAMP_COLUMN),
            keys,
            self._typed_values(table) if self._typed else self._byte_values(table, problems),
            map(_headers, _column(table, HEADERS_COLUMN)),
            strict=True,
        )
        names = ("partition", "offset", "timestamp", "key", "value", "headers")
        rows = [dict(zip(names, parts, strict=True)) for parts in found]
        for place, problem in problems.items():
            rows[place]["problem"] = problem
        return rows

    def _byte_values(self, table: pa.Table, problems: dict[int, str]) -> list[Any]:
        otherwise = _Otherwise(self._declared_values, _json_or_text)
        return self._read(_column(table, VALUE_COLUMN), self._values, problems, otherwise)

    @staticmethod
    def _typed_values(table: pa.Table) -> list[Any]:
        own = [name for name in table.column_names if name not in _NOT_OWN]
        values = [plain(row) for row in table.select(own).to_pylist()]
        if DELETED_COLUMN not in table.column_names:
            return values
        gone = table.column(DELETED_COLUMN).to_pylist()
        return [None if is_gone else value for value, is_gone in zip(values, gone, strict=True)]

    def _read(
        self,
        contents: Sequence[bytes | None],
        codec: Codec | None,
        problems: dict[int, str],
        otherwise: _Otherwise,
    ) -> list[Any]:
        if codec is not None:
            return _by_codec(codec, contents, problems)
        read = self._by_id.read(contents, problems)
        if otherwise.declared is not None:
            left = [place for place in range(len(contents)) if place not in read]
            read |= otherwise.declared.read(contents, left, problems)
        return [
            plain(read[place]) if place in read else otherwise.look(content)
            for place, content in enumerate(contents)
        ]


class _Otherwise(NamedTuple):
    """How bytes are read that no format of their topic and no id speaks for."""

    declared: DeclaredPart | None
    look: Callable[[bytes | None], Any]


_NOT_OWN = (*SYSTEM_COLUMNS, PARTITION_COLUMN)


def plain(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    """Give a value as JSON has it; what it has no word for as text."""
    if value is None or isinstance(value, _READ):
        return value
    match value:
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return json_cell(value)


def _by_codec(
    codec: Codec, contents: Sequence[bytes | None], problems: dict[int, str]
) -> list[Any]:
    read = codec.decode(binary_array(contents))
    problems.update(read.failures)
    alone = codec.schema.names == (VALUE_COLUMN,)
    rows = read.rows.to_pylist()
    return [
        json_value(content)
        if place in read.failures or content is None
        else plain(rows[place][VALUE_COLUMN] if alone else rows[place])
        for place, content in enumerate(contents)
    ]


def _column(table: pa.Table, name: str) -> list[Any]:
    if name not in table.column_names:
        return [None] * table.num_rows
    column: list[Any] = table.column(name).to_pylist()
    return column


def _headers(headers: Sequence[Mapping[str, Any]] | None) -> list[list[Any]]:
    return [[header["key"], json_value(header["value"])] for header in headers or ()]


def _json_or_text(content: bytes | None) -> Any:  # noqa: ANN401  # whatever it says
    if content and content[0] in _OPENS:
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError:
            pass
    return json_value(content)


def _bound(settings: Settings, topic: str) -> Bound:
    if not settings.topics and not settings.serdes:
        return Bound()
    return bindings_of(settings.serdes, settings.topics).get(topic, Bound())


def _bound_codec(bound: Bound, topic: str, part: str, schemas: Schemas) -> Codec | None:
    is_key = part == "key"
    found = bound.key if is_key else bound.value
    if found is None:
        return None
    try:
        return codec_of(with_subject(found, topic, "key" if is_key else "value"), None, schemas)
    except PenstockError:
        # Bound, but to what does not say columns, or is not there yet: shown as it is.
        return None
