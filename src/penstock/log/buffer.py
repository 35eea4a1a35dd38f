"""Records of one topic on their way to the log, gathered as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.log.delivery import BatchFuture
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    TIMESTAMP_COLUMN,
    Headers,
    Value,
)
from penstock.log.rows import binary_array, headers_array, integer_array, rows_of_bytes
from penstock.log.topic import Topic

_ROW_OVERHEAD = 24


class TopicBuffer:
    """Lists that become an Arrow table in one go; filled under the producer's lock."""

    __slots__ = (
        "future", "has_headers", "has_keys", "has_partitions", "headers", "keys", "partitions",
        "size", "timestamps", "topic", "values",
    )  # fmt: skip

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.values: list[Value] = []
        self.keys: list[bytes | None] = []
        self.timestamps: list[int] = []
        self.headers: list[Headers] = []
        self.partitions: list[int] = []
        self.size = 0
        self.has_keys = False
        self.has_headers = False
        self.has_partitions = False
        self.future = BatchFuture()

    def __len__(self) -> int:
        """How many records wait here."""
        return len(self.values)

    def rows(self) -> pa.Table:
        """The records as a table that fits the topic."""
        keys = self.keys if self.has_keys else None
        headers = self.headers if self.has_headers else None
        if self.topic.schema is None:
            values = cast("list[bytes | None]", self.values)
            return rows_of_bytes(values, keys=keys, timestamps=self.timestamps, headers=headers)
        columns = {TIMESTAMP_COLUMN: integer_array(np.asarray(self.timestamps, np.int64))}
        if keys is not None:
            columns[KEY_COLUMN] = binary_array(keys)
        if headers is not None:
            columns[HEADERS_COLUMN] = headers_array(headers)
        columns |= self._value_columns(self.topic.schema)
        return pa.table(columns)

    def _value_columns(self, schema: pa.Schema) -> dict[str, pa.Array]:
        rows = cast("list[Mapping[str, object] | None]", self.values)
        columns: dict[str, pa.Array] = {}
        if any(row is None for row in rows):
            columns[DELETED_COLUMN] = pa.array([row is None for row in rows], pa.bool_())
        for field in schema:
            items = [None if row is None else row.get(field.name) for row in rows]
            try:
                columns[field.name] = pa.array(items, field.type)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise SchemaError(
                    "COLUMN_TYPE",
                    f'column "{field.name}" of topic "{self.topic.name}" is {field.type}: {error}',
                    hint="Convert the value before sending it.",
                ) from error
        return columns


def check_value(topic: Topic, value: Value) -> int:
    """Refuse a value that cannot belong to a topic; give its size, roughly for typed rows."""
    if value is None:
        return _ROW_OVERHEAD
    if topic.schema is None:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return len(value) + _ROW_OVERHEAD
        raise SchemaError(
            "VALUE_KIND",
            f'topic "{topic.name}" has no schema and takes bytes, not {type(value).__name__}',
            hint="Encode the value first, for example text.encode().",
        )
    if not isinstance(value, Mapping):
        raise SchemaError(
            "VALUE_KIND",
            f'topic "{topic.name}" has a schema and takes mappings, not {type(value).__name__}',
            hint=f"Give a dict with {', '.join(topic.schema.names)}.",
        )
    for name in value:
        if name not in topic.schema.names:
            raise SchemaError(
                "COLUMN_UNKNOWN",
                f'column "{name}" does not exist in topic "{topic.name}"',
                hint=f"Its columns: {', '.join(topic.schema.names)}.",
            )
    return 16 * len(value) + _ROW_OVERHEAD
