"""Typed topics on a log that keeps bytes: Avro values with the id of their schema in the registry.

The registry is the one that the settings name, else the one kept in the same log. The subject of a
topic is the one that Confluent's clients take, so that they read what is written here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.config import load_settings
from penstock.errors import RegistryError, SchemaError
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN
from penstock.log.topic import Topic
from penstock.schema.arrow import from_arrow, to_arrow
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.registry.open import open_schemas
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.schema import Schema


def typed_topics(log: Log) -> RegisteredTopics:
    """Give who writes and reads the values of a log's typed topics."""
    return RegisteredTopics(log, load_settings().registry_url)


class RegisteredTopics:
    """Columns as values of Confluent's wire format; threads may share it."""

    def __init__(self, log: Log, url: str = "") -> None:
        self._log = log
        self._url = url
        self._guard = threading.Lock()
        self._registry: SchemaRegistry | None = None
        self._codecs: dict[str, CodecCache] = {}

    def admit(self, topic: Topic) -> None:
        """Register the schema of a topic: what values cannot be written with is refused."""
        assert topic.schema is not None
        self._codec(topic, topic.schema.names).encode(
            to_arrow(from_arrow(topic.schema)).empty_table()
        )

    def encode(self, topic: Topic, rows: pa.RecordBatch) -> pa.Array:
        """Give the rows' own columns as values; that of a deleted row is null."""
        assert topic.schema is not None
        table = pa.Table.from_batches([rows])
        places = None
        if DELETED_COLUMN in table.column_names:
            there = np.invert(table.column(DELETED_COLUMN).fill_null(False).to_numpy())  # noqa: FBT003
            places = np.where(there, np.cumsum(there) - 1, -1)
            table = table.filter(pa.array(there))
        own = table.select(topic.schema.names)
        values = self._codec(topic, topic.schema.names).encode(self._cast(own, topic))
        if places is None:
            return values
        return values.take(pa.array(places, mask=places < 0))

    def decode(self, topic: Topic, values: pa.Array, columns: tuple[str, ...]) -> list[pa.Array]:
        """Give some columns of values; one that cannot be read is refused."""
        assert topic.schema is not None
        made = self._codec(topic, columns).decode(values)
        if made.failures:
            place, why = next(iter(sorted(made.failures.items())))
            raise SchemaError(
                "VALUE_DECODE",
                f'{len(made.failures)} of {len(values)} values read from typed topic "{topic.name}"'
                f" cannot be read; value {place} of them: {why}",
                hint="Somebody else wrote them: read the topic as bytes with a format, whose"
                " policy puts such values aside.",
            )
        return [
            made.rows.column(name).combine_chunks().cast(topic.schema.field(name).type)
            for name in columns
        ]

    def forget(self, topic: Topic) -> None:
        """Delete the subject of a topic that is gone: the next one of its name is another."""
        with self._guard:
            self._codecs.pop(topic.topic_id, None)
        try:
            self._opened().delete_subject(_subject(topic))
        except RegistryError as refusal:
            if refusal.code not in ("SUBJECT_MISSING", "SUBJECT_DELETED"):
                raise

    def _cast(self, own: pa.Table, topic: Topic) -> pa.Table:
        wanted = to_arrow(from_arrow(own.schema))
        try:
            return own.cast(pa.schema([field.with_nullable(True) for field in wanted]))  # noqa: FBT003
        except pa.ArrowInvalid as error:
            raise SchemaError(
                "VALUE_ENCODE",
                f'rows for typed topic "{topic.name}" do not fit into its values: {error}',
                hint="Values hold milliseconds and 64 bits at most: round the column first.",
            ) from error

    def _codec(self, topic: Topic, names: Sequence[str]) -> Codec:
        assert topic.schema is not None
        with self._guard:
            cache = self._codecs.setdefault(topic.topic_id, CodecCache(self._opened))
        whole = from_arrow(topic.schema)
        columns = Schema(tuple(whole.field(name) for name in names))
        return cache.of(Format("avro", subject=_subject(topic)), columns)

    def _opened(self) -> SchemaRegistry:
        if self._registry is None:
            self._registry = open_schemas(self._log, self._url)
        return self._registry


def _subject(topic: Topic) -> str:
    return f"{topic.name}-value"
