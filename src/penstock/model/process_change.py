"""Which changes of what a process remembers a stored state survives.

A state may be added, dropped, renamed (`was`) and widened: a whole number to a longer or to a
floating-point one, a decimal to one with more digits, a struct by fields more or less. So may
what is inside of lists, maps and structs. What a migration makes of it may be anything. All else
is refused before the program starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from penstock.errors import StateError
from penstock.model.migration import Renamed, renamed_type
from penstock.model.process import StateField
from penstock.schema.types import Kind, Type

_WIDER = {
    Kind.INT32: (Kind.INT64, Kind.FLOAT64),
    Kind.INT64: (Kind.FLOAT64,),
}


class Misfit(NamedTuple):
    """A part of a type, by its path, that cannot become what it is to be."""

    path: str
    before: Type
    after: Type


def check_change(
    process: str, before: Sequence[StateField], after: Sequence[StateField]
) -> tuple[str, ...]:
    """Refuse a state whose stored form does not fit what is declared now.

    Give what may not be meant so: something is dropped, and something like it added.
    """
    stored = stored_states(before, after)
    found = [
        text
        for field in after
        if field.name in stored
        for text in _check(process, stored[field.name], field)
    ]
    used = {field.name for field in stored.values()}
    lost = [field for field in before if field.name not in used]
    added = [field for field in after if field.name not in stored]
    found += (
        f'state "{old.name}" of process "{process}" is dropped, and "{new.name}", also a {new}, is'
        f' new and empty: if it was renamed, say was="{old.name}"'
        for old in lost
        for new in added
        if str(old) == str(new)
    )
    return tuple(found)


def stored_states(
    before: Sequence[StateField], after: Sequence[StateField]
) -> dict[str, StateField]:
    """Say which stored state each declared one continues: that of its name, or of the old one."""
    known = {field.name: field for field in before}
    renamed = {field.was: field.name for field in after if field.name not in known and field.was}
    found: dict[str, StateField] = {}
    for field in after:
        was = field.was if renamed.get(field.was or "") == field.name else field.name
        # One that is new may have the name that another one had before.
        if was in known and renamed.get(was, field.name) == field.name:
            found[field.name] = known[was]
    return found


def widens(before: Type, after: Type) -> bool:
    """Whether every value of a type is one of another, or becomes one without loss of sense."""
    return misfit(before, after) is None


def misfit(before: Type, after: Type, path: str = "") -> Misfit | None:
    """Give the first part of a type that is not widened; none where each is."""
    if before == after:
        return None
    if before.kind is not after.kind:
        wider = after.kind in _WIDER.get(before.kind, ())
        return None if wider else Misfit(path, before, after)
    if before.kind is Kind.DECIMAL:
        whole = after.precision - after.scale >= before.precision - before.scale
        return None if whole and after.scale >= before.scale else Misfit(path, before, after)
    if before.kind is Kind.STRUCT:
        known = dict(before.fields)
        parts = ((name, kind) for name, kind in after.fields if name in known)
        found = (misfit(known[name], kind, _below(path, name)) for name, kind in parts)
        return next((item for item in found if item is not None), None)
    assert before.item is not None
    assert after.item is not None
    return misfit(before.item, after.item, path)


def lookalikes(before: Type, after: Type, path: str = "") -> Iterator[tuple[str, str]]:
    """Give fields that are gone beside new ones of the same type: they may have been renamed."""
    if before.kind is not after.kind:
        return
    if before.item is not None and after.item is not None:
        yield from lookalikes(before.item, after.item, path)
    known, wanted = dict(before.fields), dict(after.fields)
    yield from alike(known, wanted, path)
    for name in known.keys() & wanted.keys():
        yield from lookalikes(known[name], wanted[name], _below(path, name))


def alike(
    before: Mapping[str, Type], after: Mapping[str, Type], path: str = ""
) -> Iterator[tuple[str, str]]:
    """Give names that are gone beside new ones of the same type."""
    added = {name: kind for name, kind in after.items() if name not in before}
    for name, kind in before.items():
        if name not in after:
            yield from ((_below(path, name), new) for new, like in added.items() if like == kind)


def _check(process: str, before: StateField, after: StateField) -> Iterator[str]:
    known = f'state "{after.name}" of process "{process}"'
    if after.version < before.version:
        raise StateError(
            "STATE_VERSION",
            f"{known} is stored in version {before.version}, and version {after.version} is"
            " declared now",
            hint="Run the program that wrote it, or one that declares a later version.",
        )
    if before.holds != after.holds or not _keys_fit(before, after):
        raise _refused(known, before, after)
    type_ = before.type
    for step in after.steps_from(before.version):
        if not isinstance(step, Renamed):
            return  # whatever it was: the function makes it anew
        type_ = renamed_type(type_, step)
    found = misfit(type_, after.type)
    if found is not None:
        raise _refused(known, before, after, found)
    for old, new in lookalikes(type_, after.type):
        yield (
            f'field "{old}" of {known} is dropped, and "{new}" of the same type is new and null:'
            f" if it was renamed, say version={after.version + 1},"
            f' migrations={{{after.version + 1}: ps.renamed("{old}", "{new}")}}'
        )


def _refused(
    known: str, before: StateField, after: StateField, found: Misfit | None = None
) -> StateError:
    was = f', stored as "{before.name}",' if before.name != after.name else ""
    inside = ""
    if found is not None and found.path:
        inside = f': field "{found.path}" was {found.before} and is {found.after}'
    wide = before.type if found is None else found.before
    version = after.version + 1 if after.version == before.version else after.version
    return StateError(
        "STATE_CHANGE",
        f"{known}{was} holds {before}, and {after} is declared now{inside}",
        hint=f"Declare {wide} or something wider, give the new one another name, or make it"
        f" anew: version={version}, migrations={{{version}: a function of the old value}}.",
    )


def _keys_fit(before: StateField, after: StateField) -> bool:
    if before.map_key is None or after.map_key is None:
        return before.map_key == after.map_key
    return widens(before.map_key, after.map_key)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
