"""Messages that carry their schema: a small container file each, read without a registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock.schema.avro.binary import long_bytes
from penstock.schema.avro.container import ContainerReader, container_bytes, steady_sync
from penstock.schema.avro.nodes import AvroSchema


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a message says: its schema's text, and the bytes of its values one after another."""

    text: str
    count: int
    body: bytes


def embed(schema: AvroSchema, *values: object, codec: str = "null") -> bytes:
    """Give a message that holds values and their schema; equal values give equal bytes."""
    return container_bytes(schema, values, codec=codec, sync=steady_sync(schema))


def embedded_values(message: bytes, reader: AvroSchema | None = None) -> list[Any]:
    """Read the values of a message by the schema in it, as the reader's where one is given."""
    return list(ContainerReader(message, reader))


def split_embedded(message: bytes) -> Embedded:
    """Give the schema and the bytes of a message, to be read many at a time."""
    found = ContainerReader(message)
    blocks = list(found.blocks())
    body = b"".join(data for _, data in blocks)
    return Embedded(found.header.text, sum(count for count, _ in blocks), body)


def embed_bodies(schema: AvroSchema, bodies: Iterable[bytes]) -> list[bytes]:
    """Give a message for each value that is in bytes already, with one schema for all."""
    # The schema and the marker are the same for all: only number and bytes differ.
    head = embed(schema)
    sync = steady_sync(schema)
    return [head + long_bytes(1) + long_bytes(len(body)) + body + sync for body in bodies]
