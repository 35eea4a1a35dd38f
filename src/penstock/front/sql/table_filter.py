"""A condition on the rows of a table: a row that it leaves out was there before, or was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.front.sql.reading import Rows, there
from penstock.front.sql.rows import GONE
from penstock.model.expr import Call, Column, Expr
from penstock.model.process import Process, StateField
from penstock.model.processor import Calls, Context
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN

_PASSES = "_passes"
_SENT = "sent"


def table_filter(rows: Rows, condition: Expr) -> Rows:
    """Give the rows of a table for which a condition holds, and the deletion of those it left."""
    value = there(rows)
    whole = condition if value is None else Call("and", (value, condition))
    return replace(rows, relation=remembered(rows.relation, rows.key, whole, "WHERE"))


def remembered(relation: Relation, keys: tuple[str, ...], condition: Expr, site: str) -> Relation:
    """Let rows pass for which a condition holds; another one deletes what passed of its key."""
    same = [Named(name, Column(name)) for name in relation.schema.names if name != GONE]
    asked = Project(relation, (*same, Named(_PASSES, condition)), site)
    fields = [field for field in relation.schema.fields if field.name != GONE]
    gives = Schema((*fields, Field(GONE, BOOLEAN)))
    state = (StateField(_SENT, "value", BOOLEAN, default=False),)
    return Process(asked, keys, site.lower(), Remembering(), gives, state, site=site)


@dataclass(frozen=True)
class Remembering:
    """Knows of each key whether its row was passed on."""

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""
        sent = state[_SENT]

        def process(row: dict[str, Any], _: Context) -> Iterator[dict[str, Any]]:
            passes = bool(row.pop(_PASSES))
            if passes or sent.value:
                yield {**row, GONE: not passes}
            sent.value = passes

        return Calls(process)
