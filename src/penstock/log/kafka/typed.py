"""Typed topics on a log of bytes: what the log asks of whoever knows schemas.

The log lies below the room of schemas, so it is told here what it needs, and `KafkaLog` is given
somebody who does it: `penstock.schema.typed_topics` by default, which writes values as Confluent's
clients do, with the id of a schema of the registry before an Avro value.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import pyarrow as pa

from penstock.log.topic import Topic

if TYPE_CHECKING:
    from penstock.log.port import Log

_DEFAULT = "penstock.schema.typed_topics:typed_topics"


class TypedTopics(Protocol):
    """Turns the columns of typed topics into values, and back."""

    def admit(self, topic: Topic) -> None:
        """Refuse a schema that values cannot be written with; register it where it is new."""
        ...

    def encode(self, topic: Topic, rows: pa.RecordBatch) -> pa.Array:
        """Give the rows' own columns as values; that of a deleted row is null, a tombstone."""
        ...

    def decode(self, topic: Topic, values: pa.Array, columns: tuple[str, ...]) -> list[pa.Array]:
        """Give some columns of values; a null value is a row of nulls."""
        ...

    def forget(self, topic: Topic) -> None:
        """A topic is gone: another one of its name may have other columns."""
        ...


MakeTyped: TypeAlias = Callable[["Log"], TypedTopics]


def default_typed(log: Log) -> TypedTopics:
    """Give the house's own way, which is found by its name as guards are."""
    module, name = _DEFAULT.split(":")
    return cast("MakeTyped", getattr(import_module(module), name))(log)
