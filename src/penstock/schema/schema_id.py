"""The id of its schema before a value: the wire format of Confluent's clients.

A zero byte, four bytes of the id with the highest first, then the value. No JSON text and no
Protobuf message begins with a zero byte, so a value of these that has no id is known as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import RegistryError
from penstock.schema.codec.binary import Ints, Mask, run_of, valid_rows
from penstock.schema.codec.schemas import Schemas, SchemaText
from penstock.schema.language import SchemaSource

HEADER = 5
"""How many bytes stand before the value itself."""

_MAGIC = 0
_NOT_THERE = ("SCHEMA_MISSING", "SUBJECT_MISSING", "VERSION_MISSING", "SCHEMA_TEXT")


class Headed(NamedTuple):
    """Values without what stood before them; an id is -1 where a value had none."""

    ids: Ints
    bodies: pa.Array


def without_header(values: pa.Array) -> Headed:
    """Take the ids off the values of a binary array; values without one stay as they are."""
    run = run_of(values)
    starts = run.starts[:-1]
    marked = valid_rows(values) & (run.lengths >= HEADER)
    marked[marked] = run.data[starts[marked]] == _MAGIC
    ids = np.full(len(values), -1, np.int64)
    places = starts[marked]
    found = np.zeros(len(places), np.int64)
    for byte in range(1, HEADER):
        found = (found << 8) | run.data[places + byte]
    ids[marked] = found
    bodies = pc.binary_replace_slice(values, 0, HEADER, b"")
    if not marked.all():
        bodies = pc.if_else(pa.array(marked), bodies, values)
    return Headed(ids, bodies)


def with_header(header: bytes, bodies: pa.Array) -> pa.Array:
    """Put the same bytes before every value; null stays null."""
    return pc.binary_join_element_wise(
        pa.scalar(header, pa.binary()), bodies, pa.scalar(b"", pa.binary())
    )


def header_of(schema_id: int) -> bytes:
    """Give the bytes of an id."""
    return bytes([_MAGIC]) + schema_id.to_bytes(4, "big")


def starts_with_magic(values: pa.Array) -> Mask:
    """Say which values begin as one with an id does."""
    run = run_of(values)
    there = valid_rows(values) & (run.lengths > 0)
    there[there] = run.data[run.starts[:-1][there]] == _MAGIC
    return there


@dataclass(frozen=True, slots=True)
class SchemasById:
    """The schemas of values by id, each asked for once; one that is missing is a reason."""

    schemas: Schemas
    known: dict[int, SchemaSource | str] = field(default_factory=dict)

    def source(self, schema_id: int, type_: str) -> SchemaSource | str:
        """Give a schema of a language with all it refers to, or why there is none."""
        if schema_id not in self.known:
            try:
                found = self.schemas.by_id(schema_id)
            except RegistryError as error:
                # A registry that is out of reach is nothing that a value is to blame for.
                if error.code not in _NOT_THERE:
                    raise
                self.known[schema_id] = f"no schema has the id {schema_id}"
            else:
                wrong = f"schema {schema_id} is {found.type}, not {type_}"
                self.known[schema_id] = (
                    source_of(self.schemas, found) if found.type == type_ else wrong
                )
        return self.known[schema_id]


def source_of(schemas: Schemas, schema: SchemaText) -> SchemaSource:
    """Gather the texts a schema refers to, each after those it needs itself."""
    found: dict[str, str] = {}
    _gather(schemas, schema, found)
    return SchemaSource(schema.text, tuple(found.items()))


def _gather(schemas: Schemas, schema: SchemaText, found: dict[str, str]) -> None:
    for reference in schema.references:
        if reference.name not in found:
            target = schemas.version(reference.subject, reference.version).schema
            _gather(schemas, target, found)
            found[reference.name] = target.text
