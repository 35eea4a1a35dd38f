"""Refuses values on their way into a topic whose schema is not registered for it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from penstock.config import load_settings
from penstock.errors import RecordError, RegistryError
from penstock.log.port import Log
from penstock.log.record import VALUE_COLUMN
from penstock.log.rows import null_mask
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.naming import strategy_named, subject_name
from penstock.schema.registry.open import open_schemas
from penstock.schema.registry.record_name import record_names
from penstock.schema.registry.registered import Registered

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 5
"""A zero, and the id in four bytes: how Confluent's clients begin every value."""


class SubjectGuard:
    """Lets values pass that begin with the id of a schema registered under the topic's subject.

    The argument is the naming strategy that tells the subject. Null values pass: they delete.
    """

    def __init__(self, log: Log, argument: str = "topic") -> None:
        self._strategy = strategy_named(argument or "topic")
        self._schemas = open_schemas(log, load_settings().registry_url)

    def check(self, topic: str, rows: pa.RecordBatch) -> None:
        """Refuse rows with `RecordError("SCHEMA_REFUSED")` if one of them must not pass."""
        column = rows.column(VALUE_COLUMN)
        given = ~null_mask(column)
        ids = _ids(column)
        bare = np.flatnonzero(given & (ids < 0))
        if len(bare):
            raise _refused(topic, int(bare[0]), "does not begin with the id of a schema")
        for schema_id in np.unique(ids[given]).tolist():
            if not self._allowed(topic, schema_id):
                row = int(np.flatnonzero(given & (ids == schema_id))[0])
                raise _refused(topic, row, f"has schema {schema_id}, {self._told(topic)}")

    def close(self) -> None:
        """Let go of the registry."""
        self._schemas.close()

    def _allowed(self, topic: str, schema_id: int) -> bool:
        try:
            found = self._schemas.all_with_id(schema_id)
        except RegistryError as error:
            if error.code != "SCHEMA_MISSING":
                raise
            return False
        return any(one.subject in self._subjects(topic, one) for one in found)

    def _subjects(self, topic: str, one: Registered) -> frozenset[str]:
        if self._strategy == "topic":
            return frozenset({subject_name("topic", topic)})
        return frozenset(
            subject_name(self._strategy, topic, record=name) for name in _names(one.schema)
        )

    def _told(self, topic: str) -> str:
        if self._strategy == "topic":
            return f'which is not registered under subject "{subject_name("topic", topic)}"'
        return f'which is not registered as the naming strategy "{self._strategy}" asks'


def _ids(column: pa.Array) -> npt.NDArray[np.int64]:
    """Give the id each value begins with; -1 where it begins with none."""
    ends = np.frombuffer(column.buffers()[1], np.int32)[
        column.offset : column.offset + len(column) + 1
    ]
    starts = ends[:-1].astype(np.int64)
    ids = np.full(len(column), -1, np.int64)
    data = column.buffers()[2]
    if data is None:
        return ids
    content = np.frombuffer(data, np.uint8)
    long_enough = np.flatnonzero(np.diff(ends) >= _HEAD)
    begins = long_enough[content[starts[long_enough]] == 0]
    head = content[starts[begins][:, None] + np.arange(1, _HEAD)].astype(np.int64)
    ids[begins] = head @ np.array([1 << 24, 1 << 16, 1 << 8, 1], np.int64)
    return ids


def _refused(topic: str, row: int, why: str) -> RecordError:
    return RecordError(
        "SCHEMA_REFUSED",
        f'the value of row {row} for topic "{topic}" {why}',
        hint="Register its schema under the topic's subject, or write with a client that does."
        " Nothing was written.",
    )


@lru_cache(maxsize=1024)
def _names(schema: SchemaText) -> frozenset[str]:
    return record_names(schema)
