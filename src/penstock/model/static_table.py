"""Rows that do not change while a program runs: held by it, or read where it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.schema.schema import Schema

Place: TypeAlias = Literal["held", "file", "spark"]


@dataclass(frozen=True, slots=True)
class StaticTable:
    """A table by its rows, by the file that holds them, or by the name that Spark knows it by.

    `name` is what tells two tables apart: a hash of the rows, a path, or a name. `rows` are
    an Arrow stream, where the program holds them.
    """

    columns: Schema
    place: Place
    name: str
    rows: bytes = field(default=b"", compare=False, repr=False)


def static_words(table: StaticTable) -> str:
    """Say which table it is."""
    match table.place:
        case "held":
            return f"rows of the program ({table.columns})"
        case "file":
            return f"the file {table.name}"
        case "spark":
            return f"Spark's table {table.name}"
