"""An expression of SQL, read, resolved and computed by the kernel over a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.parse import parse_expression
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source_text import SourceText
from penstock.kernel.columns import from_rows
from penstock.kernel.expression import lower
from penstock.kernel.sql.value_text import value_text
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, STRING, Type

ROW = Schema((Field("_ROW", INT32),))


def resolve(text: str, columns: Mapping[str, Type] | None = None) -> Typed:
    """Resolve an expression over the columns of a source S."""
    known = tuple(ScopeColumn("S", name, name, type_) for name, type_ in (columns or {}).items())
    return Resolver(Scope(known, SourceText(text))).typed(parse_expression(text))


def evaluate(
    text: str,
    columns: Mapping[str, Type] | None = None,
    rows: Sequence[Sequence[Any]] = ((),),
) -> list[Any]:
    """Give the value of an expression for each row."""
    typed = resolve(text, columns)
    schema = Schema(tuple(Field(name, type_) for name, type_ in (columns or {}).items()))
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    frame = from_rows(named, schema) if schema.fields else pl.DataFrame({"_ROW": [0] * len(rows)})
    return frame.select(lower(typed.expr, schema).alias("found")).to_series().to_list()


def shown(text: str) -> str:
    """Give the value of an expression without columns as text."""
    typed = resolve(text)
    return value_text(evaluate(text)[0], typed.type or STRING)
