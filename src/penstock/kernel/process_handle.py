"""Which handle a user's function gets for which state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

from penstock.kernel.process_collection import ListHandle, MapHandle
from penstock.kernel.process_column import StateColumn
from penstock.kernel.process_state import Logged, Moment, Plain, WatchedValue
from penstock.model.process import StateField

Handle: TypeAlias = Plain | WatchedValue | ListHandle | MapHandle


def handle_of(column: StateColumn, moment: Moment) -> Handle:
    """Give the handle for a state that is declared like this."""
    declared: StateField = column.field
    if declared.holds == "list":
        return ListHandle(column, moment)
    if declared.holds == "map":
        return MapHandle(column, moment)
    if column.nested or declared.ttl is not None:
        return WatchedValue(column, moment)
    return Plain(column)


def split(handles: Iterable[Handle]) -> tuple[tuple[Plain, ...], tuple[Logged, ...]]:
    """Tell the handles that are copied before a call from those that log."""
    both = tuple(handles)
    plain = tuple(item for item in both if isinstance(item, Plain))
    return plain, tuple(cast(Logged, item) for item in both if not isinstance(item, Plain))
