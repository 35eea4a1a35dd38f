"""What each record of a table changes: the row before is taken back, and the new one comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.front.sql.rows import GONE
from penstock.model.change_rows import RowChanges
from penstock.model.expr import Column
from penstock.model.process import Process, StateField
from penstock.model.processor import Calls, Context
from penstock.model.relation import Relation
from penstock.model.trigger import AfterRow, Repeat, Trigger
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, Kind, Type

_BACK, _LAST = "_back", "_last"
_ROW = "row"
EACH_RECORD: Trigger = Repeat(AfterRow(Column(_LAST)))
"""With the last change that a record makes to a group."""


def changes_by_record(rows: Relation, keys: tuple[str, ...], groups: tuple[str, ...]) -> Relation:
    """Give the changes of a table record by record; `groups` are the columns to be grouped by."""
    kept = tuple(field for field in rows.schema.fields if field.name != GONE)
    held = Type(Kind.STRUCT, fields=tuple((field.name, field.type) for field in kept))
    gives = Schema((*kept, Field(_BACK, BOOLEAN), Field(_LAST, BOOLEAN)))
    state = (StateField(_ROW, "value", held),)
    made = Process(rows, keys, "changes", Replacing(groups), gives, state, site="GROUP BY")
    return RowChanges(made, _BACK, site="GROUP BY")


@dataclass(frozen=True)
class Replacing:
    """Knows the row of each key."""

    groups: tuple[str, ...]

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""
        held = state[_ROW]

        def process(row: dict[str, Any], _: Context) -> Iterator[dict[str, Any]]:
            old = held.value
            new = None if row.pop(GONE, False) else row
            if old is not None:
                # Where the group stays the same, one update tells of both.
                same = new is not None and all(old[name] == new[name] for name in self.groups)
                yield {**old, _BACK: True, _LAST: not same}
            if new is not None:
                yield {**new, _BACK: False, _LAST: True}
            held.value = new

        return Calls(process)
