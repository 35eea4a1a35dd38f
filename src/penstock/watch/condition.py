"""Conditions of rules: expressions of SQL over the columns of a row, computed by polars."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from penstock.errors import ConfigError, SqlError
from penstock.front.sql.expression import Resolver
from penstock.front.sql.parse import parse_expression
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source_text import SourceText
from penstock.kernel.expression import lower
from penstock.model.expr import columns_of
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be true: null is not. `columns` are those it reads."""

    text: str
    expr: pl.Expr
    columns: tuple[str, ...]


def condition_of(text: str, schema: Schema, role: str) -> Condition:
    """Read a condition over these columns; names without quotes are of any case."""
    scope = Scope(tuple(_columns(schema)), SourceText(text))
    try:
        found = Resolver(scope).condition(parse_expression(text), "a condition")
    except SqlError as error:
        raise ConfigError(
            "ALERT_CONDITION",
            f"{role}: {error.fact}",
            hint=error.hint or f"The columns: {', '.join(schema.names)}.",
        ) from error
    read = tuple(dict.fromkeys(columns_of(found.expr)))
    return Condition(text, lower(found.expr, schema).fill_null(value=False), read)


def _columns(schema: Schema) -> list[ScopeColumn]:
    """Give each column by its own name and, where no other has it, by its name in capitals."""
    capitals = Counter(name.upper() for name in schema.names)
    found = []
    for item in schema.fields:
        found.append(ScopeColumn("", item.name, item.name, item.type))
        upper = item.name.upper()
        if upper != item.name and capitals[upper] == 1:
            found.append(ScopeColumn("", upper, item.name, item.type))
    return found
