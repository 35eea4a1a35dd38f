"""What a registered schema tells."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Told:
    """The columns of a schema; without `wrapped` it is one value, which has no name."""

    columns: Schema
    wrapped: bool
