"""Plans of statements as runners can read them: the place and time of a record become columns.

A topic of bytes has no column for the partition and none for the time. Every row of a program
knows both, so that they are taken from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from penstock.front.sql.rows import (
    HEADERS,
    KEY,
    OFFSET,
    PARTITION,
    RECORDS,
    TIMESTAMP,
    VALUE,
    Opening,
    Row,
)
from penstock.kernel.port import TAKEN, Frame
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply
from penstock.schema.schema import Field, Schema

# A column of a program cannot be called as those that every row has beside them.
_PLACES = {TIMESTAMP: "at_time", PARTITION: "at_partition", OFFSET: "at_offset"}
_TAKEN_FROM = {TIMESTAMP: TAKEN, PARTITION: PARTITION, OFFSET: OFFSET}
_STORED = Schema(tuple(RECORDS.field(name) for name in (KEY, VALUE, HEADERS)))
_PLACED = Schema(
    tuple(
        Field(_PLACES.get(field.name, field.name), field.type, field.nullable)
        for field in RECORDS.fields
    )
)


def readable(plan: Plan) -> Plan:
    """Give the plan that reads the same records from a log."""
    made: dict[int, Relation] = {}
    return replace(
        plan,
        sinks=tuple(replace(sink, relation=_read(sink.relation, made)) for sink in plan.sinks),
    )


def placed(rows: Frame) -> Frame:
    """Copy what is known beside each row into columns of their own."""
    return rows.with_columns(
        pl.col(known).alias(_PLACES[name]) for name, known in _TAKEN_FROM.items()
    )


@dataclass(frozen=True, slots=True)
class PlacedOpening:
    """Opens a record whose place and time are in columns of other names."""

    opening: Opening

    def __call__(self, row: Row) -> Iterator[dict[str, Any]]:
        """Give the rows of a record."""
        told = {name: row[column] for name, column in _PLACES.items()}
        yield from self.opening({**row, **told})


def _read(relation: Relation, made: dict[int, Relation]) -> Relation:
    # What two steps share stays shared: it is read once.
    if id(relation) not in made:
        made[id(relation)] = _changed(relation, made)
    return made[id(relation)]


def _changed(relation: Relation, made: dict[int, Relation]) -> Relation:
    if isinstance(relation, Apply) and isinstance(relation.function, Opening):
        stream = relation.source
        assert isinstance(stream, Stream)
        stored = replace(stream, columns=_STORED)
        place = Apply(stored, f"place {stream.topic}", placed, "polars", _PLACED, relation.site)
        return replace(relation, source=place, function=PlacedOpening(relation.function))
    changes: dict[str, Any] = {}
    for field in fields(relation):
        value = getattr(relation, field.name)
        if isinstance(value, Relation):
            changes[field.name] = _read(value, made)
        elif isinstance(value, tuple) and any(isinstance(item, Relation) for item in value):
            changes[field.name] = tuple(_read(item, made) for item in value)
    return replace(relation, **changes) if changes else relation
