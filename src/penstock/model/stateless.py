"""Steps that look at one row at a time and remember nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.change_rows import ChangeRows, RowChanges
from penstock.model.condition import require_condition, require_event_time
from penstock.model.enrich import Enrich
from penstock.model.expr import Column, Expr
from penstock.model.relation import OneInput, Relation, SameColumns, made_once
from penstock.model.signature import expr_type
from penstock.schema.schema import Field, Schema


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the column it becomes."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Project(OneInput):
    """Exactly these columns, computed from each row."""

    columns: tuple[Named, ...]
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        # Asked for once: a schema is made of those before it.
        known = self.source.schema
        for column in self.columns:
            expr_type(column.expr, known, self.site)

    @property
    @override
    @made_once
    def schema(self) -> Schema:
        known = self.source.schema
        return Schema(tuple(_result(column, known) for column in self.columns))


@dataclass(frozen=True, slots=True)
class Filter(SameColumns):
    """The rows for which the condition is true; null is not."""

    condition: Expr
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_condition(self.condition, self.source.schema, self.site)


RowFunction: TypeAlias = Callable[[dict[str, Any]], Any]
"""Takes a row as a dictionary."""
BatchFunction: TypeAlias = Callable[[Any], Any]
"""Takes and gives a polars or Arrow table, or gives `Decoded`: why some rows are not there."""
Shape: TypeAlias = Literal["map", "filter", "flat_map", "arrow", "polars"]


@dataclass(frozen=True, slots=True)
class Apply(OneInput):
    """A function of the user: of one row (`map`, `filter`, `flat_map`) or of a whole table.

    A row that makes it raise becomes a dead letter, and the rest goes on. Weight and event
    time of a row go with what it becomes; a function of tables must keep the number of rows.
    """

    name: str
    function: RowFunction | BatchFunction
    shape: Shape
    gives: Schema
    site: str = field(default="", compare=False)

    @property
    @override
    def schema(self) -> Schema:
        return self.gives


@dataclass(frozen=True, slots=True)
class Union(Relation):
    """All rows of several streams with the same columns."""

    sources: tuple[Relation, ...]
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        first = self.sources[0].schema
        for other in self.sources[1:]:
            if [(f.name, f.type) for f in other.schema.fields] != [
                (f.name, f.type) for f in first.fields
            ]:
                raise ModelError(
                    "UNION_COLUMNS",
                    f"the streams of a union differ: ({first}) and ({other.schema}) ({self.site})",
                    hint="Select the same columns, of the same types and in the same order.",
                )

    @property
    @override
    def schema(self) -> Schema:
        return self.sources[0].schema

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return self.sources


@dataclass(frozen=True, slots=True)
class Rekey(SameColumns):
    """The same rows under another key, which decides their partition in a topic."""

    keys: tuple[str, ...]
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)


@dataclass(frozen=True, slots=True)
class Expect(SameColumns):
    """What a row should be like: one that is not is dropped, parked, or ends the program."""

    name: str
    condition: Expr
    otherwise: Literal["drop", "park", "fail"] = "park"
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_condition(self.condition, self.source.schema, self.site)


@dataclass(frozen=True, slots=True)
class Restamp(SameColumns):
    """The same rows with another event time; it must not lie before the watermark's disorder."""

    event_time: str
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_event_time(self.event_time, self.source.schema, self.site)


@dataclass(frozen=True, slots=True)
class Updates(SameColumns):
    """The rows that are added; those taken back are left out, so that nothing takes rows back."""

    site: str = field(default="", compare=False)

    @property
    @override
    def retracts(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Retire(SameColumns):
    """Rows for which the condition is not true delete their key: a filter of a table's changes."""

    condition: Expr
    site: str = field(default="", compare=False)


def _result(column: Named, known: Schema) -> Field:
    if isinstance(column.expr, Column):
        passed = known.field(column.expr.name)
        return Field(column.name, passed.type, passed.nullable)
    return Field(column.name, expr_type(column.expr, known))


Stateless: TypeAlias = (
    Project
    | Filter
    | Apply
    | Union
    | Rekey
    | Expect
    | Restamp
    | Updates
    | Retire
    | Enrich
    | ChangeRows
    | RowChanges
)
