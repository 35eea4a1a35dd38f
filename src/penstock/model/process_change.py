"""Which changes of what a process remembers a stored state survives.

A field may be added, dropped, renamed (`was`) and widened: a whole number to a longer or to a
floating-point one, a decimal to one with more digits, a struct by fields more or less. So may
what is inside of lists, maps and structs. Anything else is refused before the program starts.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import StateError
from penstock.model.process import StateField
from penstock.schema.types import Kind, Type

_WIDER = {
    Kind.INT32: (Kind.INT64, Kind.FLOAT64),
    Kind.INT64: (Kind.FLOAT64,),
}


def check_change(process: str, before: Sequence[StateField], after: Sequence[StateField]) -> None:
    """Refuse a state whose stored form does not fit what is declared now."""
    known = {field.name: field for field in before}
    for field in after:
        old = known.get(field.name) or known.get(field.was or "")
        if old is not None and not _fits(old, field):
            name = f'"{field.name}"' if old.name == field.name else f'"{old.name}", now "{field}",'
            raise StateError(
                "STATE_CHANGE",
                f'state {name} of process "{process}" holds {old}, and {field} is declared now',
                hint="Declare what it holds or something wider, or give the new one another name.",
            )


def widens(before: Type, after: Type) -> bool:
    """Whether every value of a type is one of another, or becomes one without loss of sense."""
    if before == after:
        return True
    if before.kind is not after.kind:
        return after.kind in _WIDER.get(before.kind, ())
    if before.kind is Kind.DECIMAL:
        whole = after.precision - after.scale >= before.precision - before.scale
        return whole and after.scale >= before.scale
    if before.kind is Kind.STRUCT:
        known = dict(before.fields)
        return all(name not in known or widens(known[name], kind) for name, kind in after.fields)
    return before.item is not None and after.item is not None and widens(before.item, after.item)


def _fits(before: StateField, after: StateField) -> bool:
    if before.holds != after.holds or not widens(before.type, after.type):
        return False
    if before.map_key is None or after.map_key is None:
        return before.map_key == after.map_key
    return widens(before.map_key, after.map_key)
