"""What a measure is computed of: its arguments as columns of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.expression import lower
from penstock.kernel.port import WEIGHT
from penstock.model.expr import Column, Expr
from penstock.model.measure import Measure, measure_type
from penstock.model.signature import expr_type
from penstock.schema.schema import Schema
from penstock.schema.types import Kind


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: the column that holds it, computed before rows are folded if it must be."""

    column: str
    computed: pl.Expr | None
    kind: Kind
    dtype: pl.DataType
    nullable: bool

    @property
    def value(self) -> pl.Expr:
        """The value in each row."""
        return pl.col(self.column)


@dataclass(frozen=True, slots=True)
class Task:
    """A measure to be compiled: how its columns begin, and of what it is computed."""

    measure: Measure
    prefix: str
    arguments: tuple[Argument, ...]
    gives: pl.DataType
    retracts: bool

    @property
    def argument(self) -> Argument:
        """The first argument."""
        return self.arguments[0]

    @property
    def subject(self) -> str:
        """Names the arguments: the same for measures of the same ones."""
        return ",".join(item.column for item in self.arguments)

    @property
    def weight(self) -> pl.Expr:
        """How often a row counts."""
        return pl.col(WEIGHT).cast(pl.Int64)

    @property
    def settings(self) -> dict[str, object]:
        """The settings by name."""
        return dict(self.measure.settings)


def tasks_of(measures: tuple[Measure, ...], schema: Schema, *, retracts: bool) -> tuple[Task, ...]:
    """Prepare measures for compilation; equal arguments are computed once."""
    computed: dict[Expr, str] = {}
    tasks = []
    for index, measure in enumerate(measures):
        arguments = tuple(_argument(a, schema, measure.site, computed) for a in measure.arguments)
        gives = dtype_of(measure_type(measure, schema))
        tasks.append(Task(measure, f"_a{index}", arguments, gives, retracts))
    return tuple(tasks)


def _argument(expr: Expr, schema: Schema, site: str, computed: dict[Expr, str]) -> Argument:
    type_ = expr_type(expr, schema, site)
    dtype = dtype_of(type_)
    if isinstance(expr, Column):
        nullable = schema.field(expr.name).nullable
        return Argument(expr.name, None, type_.kind, dtype, nullable)
    name = computed.setdefault(expr, f"_x{len(computed)}")
    # In the rows and not in the group, where a constant would stand for one row only.
    return Argument(name, lower(expr, schema).cast(dtype), type_.kind, dtype, nullable=True)
