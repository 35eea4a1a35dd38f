"""Table functions: each item of an array becomes a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.registry import is_table_function
from penstock.front.sql.functions.tables import resolve_table_function
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope
from penstock.front.sql.tree_expression import Call, Lambda
from penstock.model.expr import Column
from penstock.model.stateless import Apply, Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import STRING, Type


class Explosion:
    """The table functions that a SELECT asks for."""

    def __init__(self, scope: Scope, types: Mapping[str, Type]) -> None:
        self._inside = Resolver(scope, types)
        self._arrays: list[Typed] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that hold their results."""
        return tuple(f"_items{place}" for place in range(len(self._arrays)))

    def hook(self, call: Call) -> Typed | None:
        """Give the column of a table function's items."""
        if not is_table_function(call.function.text):
            return None
        plain = [item for item in call.arguments if not isinstance(item, Lambda)]
        made = resolve_table_function(
            call.function.text, [self._inside.typed(item) for item in plain]
        )
        self._arrays.append(made)
        item = STRING if made.type is None or made.type.item is None else made.type.item
        return Typed(Column(self.names[-1]), item)

    def exploded(self, rows: Rows) -> Rows:
        """Give a row for each item; the shorter arrays are followed by nulls."""
        if not self._arrays:
            return rows
        known = rows.relation.schema
        arrays = [
            Named(name, made.expr) for name, made in zip(self.names, self._arrays, strict=True)
        ]
        same = [Named(name, Column(name)) for name in known.names]
        wide = Project(rows.relation, (*same, *arrays), "table functions")
        items = [
            Field(name, (made.type.item if made.type else None) or STRING)
            for name, made in zip(self.names, self._arrays, strict=True)
        ]
        gives = Schema((*known.fields, *items))
        relation = Apply(
            wide, "explode", Exploding(self.names), "flat_map", gives, "table functions"
        )
        return replace(rows, relation=relation)


@dataclass(frozen=True, slots=True)
class Exploding:
    """Gives a row for each item of arrays."""

    names: tuple[str, ...]

    def __call__(self, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Give the rows; a record without a value has none."""
        if row.get(GONE):
            return
        arrays = {name: row[name] or [] for name in self.names}
        for place in range(max(map(len, arrays.values()))):
            items = {
                name: items[place] if place < len(items) else None for name, items in arrays.items()
            }
            yield {**row, **items}
