"""Between the bytes of records and columns: what every codec promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Decoded:
    """The columns of so many values, row by row; a value that failed is a row of nulls.

    `failures` says why, by the place of the value.
    """

    rows: pa.Table
    failures: Mapping[int, str] = field(default_factory=dict)


class Codec(Protocol):
    """Turns the values of records into columns of its schema, and back; many at a time."""

    @property
    def schema(self) -> Schema:
        """The columns."""
        ...

    def decode(self, values: pa.Array) -> Decoded:
        """Read values (a binary array); one that is null gives a row of nulls and no failure.

        No bytes make it raise: what cannot be read is a failure.
        """
        ...

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows, whose columns are those of the schema, as a binary array.

        A row that the format cannot hold raises `SchemaError("VALUE_ENCODE")`, which names the
        first such row and column.
        """
        ...
