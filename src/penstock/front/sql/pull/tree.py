"""What answers a question of any kind about what is there: steps on whole frames of rows.

Each step says which columns it gives (`schema`). Columns of sources are called by the name of
their source and their own, `orders.id`; `AT` tells when a row happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.source import SourceColumn, SqlSource
from penstock.front.sql.types import type_text
from penstock.model.expr import Expr
from penstock.model.measure import Measure
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.stateless import Named
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, Type

AT = "_at"
ROWS = "rows"
"""What a model's step on the rows of another step reads."""
How: TypeAlias = Literal["inner", "left", "right", "full", "semi", "anti"]


@dataclass(frozen=True, slots=True)
class PullScan:
    """The rows that a program gives when it has read all there is; of a table what is left."""

    plan: Plan
    reads: tuple[SqlSource, ...]
    table: bool
    schema: Schema
    kept: KeptTable | None = None
    """How the same can be had from a table that is kept at hand."""


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The rows of a table's records as they come, and how a scan names their columns.

    The last row of each key is meant, unless it is gone.
    """

    records: Plan
    keys: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    """The names that a scan gives, each with the one that the records have."""


@dataclass(frozen=True, slots=True)
class PullNothing:
    """One row without columns: SELECT without FROM."""

    @property
    def schema(self) -> Schema:
        """When it happened, which is of no account."""
        return Schema((Field(AT, INT64),))


@dataclass(frozen=True, slots=True)
class PullFilter:
    """The rows for which a condition is true."""

    source: PullStep
    condition: Expr

    @property
    def schema(self) -> Schema:
        """The same columns."""
        return self.source.schema


@dataclass(frozen=True, slots=True)
class PullProject:
    """These columns of each row."""

    source: PullStep
    columns: tuple[Named, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class PullModel:
    """A step of the model on all rows, which it reads as the stream `ROWS`."""

    source: PullStep
    relation: Relation
    schema: Schema


@dataclass(frozen=True, slots=True)
class PullGroup:
    """One row for each group; without keys one for all rows, even if there are none.

    Results of groups and windows are told `apart` by columns, the last of each being meant; where
    that is none, each result is a row.
    """

    source: PullStep
    keys: tuple[Named, ...]
    measures: tuple[Measure, ...]
    relation: Relation
    schema: Schema
    apart: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PullJoin:
    """Rows of both that belong together: all `pairs` are equal and the condition holds."""

    left: PullStep
    right: PullStep
    how: How
    pairs: tuple[tuple[Expr, Expr], ...]
    condition: Expr | None
    schema: Schema


@dataclass(frozen=True, slots=True)
class PullUnion:
    """The rows of both; the second has its columns in the same order."""

    left: PullStep
    right: PullStep

    @property
    def schema(self) -> Schema:
        """The columns as the first names them."""
        return self.left.schema


@dataclass(frozen=True, slots=True)
class PullDistinct:
    """Each row once; when it happened makes no difference."""

    source: PullStep

    @property
    def schema(self) -> Schema:
        """The same columns."""
        return self.source.schema


@dataclass(frozen=True, slots=True)
class PullOrder:
    """An expression to sort by."""

    by: Expr
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class PullSort:
    """The same rows in order, then the first of all, or of each group."""

    source: PullStep
    order: tuple[PullOrder, ...]
    limit: int | None = None
    top: int | None = None
    top_keys: tuple[Expr, ...] = ()

    @property
    def schema(self) -> Schema:
        """The same columns."""
        return self.source.schema


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a frame begins or ends, seen from a row: so far from it, or unbounded."""

    amount: int | None
    """Below 0 before the row, above 0 after it."""


@dataclass(frozen=True, slots=True)
class OverCall:
    """A function of the rows around a row; the result is a column called `name`."""

    name: str
    function: str
    arguments: tuple[Expr, ...]
    type: Type
    partition: tuple[Expr, ...]
    order: tuple[PullOrder, ...]
    by_rows: bool
    start: Bound
    end: Bound


@dataclass(frozen=True, slots=True)
class PullOver:
    """The same rows with the results of OVER."""

    source: PullStep
    calls: tuple[OverCall, ...]

    @property
    def schema(self) -> Schema:
        """The columns, then those results."""
        made = (Field(call.name, call.type) for call in self.calls)
        return Schema((*self.source.schema.fields, *made))


PullStep: TypeAlias = (
    PullScan
    | PullNothing
    | PullFilter
    | PullProject
    | PullModel
    | PullGroup
    | PullJoin
    | PullUnion
    | PullDistinct
    | PullSort
    | PullOver
)


@dataclass(frozen=True, slots=True)
class Pulled:
    """A question about what is there: the steps that answer it, and the columns shown."""

    step: PullStep
    columns: tuple[SourceColumn, ...]
    pull: Literal[True] = True

    @property
    def schema(self) -> str:
        """The columns as text, each name quoted."""
        return ", ".join(f"`{column.name}` {type_text(column.type)}" for column in self.columns)

    @property
    def scans(self) -> tuple[PullScan, ...]:
        """What is read of the log, in the order of the text."""
        return tuple(step for step in steps_of(self.step) if isinstance(step, PullScan))

    @property
    def reads(self) -> tuple[SqlSource, ...]:
        """The sources that are read, each once."""
        return tuple(dict.fromkeys(source for scan in self.scans for source in scan.reads))


def steps_of(step: PullStep) -> Iterator[PullStep]:
    """Give all steps, inputs first."""
    match step:
        case PullJoin() | PullUnion():
            yield from steps_of(step.left)
            yield from steps_of(step.right)
        case PullScan() | PullNothing():
            pass
        case _:
            yield from steps_of(step.source)
    yield step
