"""Whether the stored states of a program can become those of a changed one.

What may change: what processes remember (see `model.process_change`), columns of rows that are
kept whole (more, fewer, wider), and the measures of an aggregate (more, fewer, renamed, of wider
numbers). What may not: keys, windows, triggers, and all else that the state follows from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import StateError
from penstock.model.physical import Keyed
from penstock.model.process import Process
from penstock.model.process_change import alike, check_change, misfit
from penstock.model.state_form import Columns, StateForm, StoredMeasure
from penstock.schema.types import Kind, Type

_FRESH = "Give the program a new checkpoint, or run the one that wrote this."


class StateWarning(UserWarning):
    """A stored state was taken over in a way that may not be meant so."""


def check_form(keyed: Keyed, before: StateForm, after: StateForm) -> tuple[str, ...]:
    """Refuse an operator whose stored state cannot become its own; give what is worth a warning."""
    if before == after or (before.kind, after.kind) == ("Settle", "Settle"):
        return ()
    _require_same(keyed.id, before, after)
    warnings: list[str] = []
    stored = dict(before.rows)
    for name, columns in after.rows:
        warnings += _check_rows(_named(keyed.id, after, name), stored.get(name, ()), columns)
    relation = keyed.relation
    if isinstance(relation, Process):
        warnings += check_change(relation.name, before.fields, relation.state)
    warnings += _check_measures(_named(keyed.id, after), before, after)
    return tuple(warnings)


def continued(
    before: tuple[StoredMeasure, ...], after: tuple[StoredMeasure, ...]
) -> Mapping[str, int]:
    """Say which stored measure each goes on with, by its place: that of its name, or its like.

    One that computes the same under another name was renamed.
    """
    places = {item.name: place for place, item in enumerate(before)}
    names = {item.name for item in after}
    gone = {item.mark: place for place, item in enumerate(before) if item.name not in names}
    found: dict[str, int] = {}
    for item in after:
        place = places.get(item.name)
        if place is None:
            place = gone.pop(item.mark, None)
        if place is not None:
            found[item.name] = place
    return found


def _require_same(id_: str, before: StateForm, after: StateForm) -> None:
    if before.kind != after.kind:
        raise StateError(
            "CHECKPOINT_PROGRAM",
            f'operator "{id_}" keeps the state of "{before.step}", and is "{after.step}" now',
            hint=_FRESH,
        )
    if before.keys != after.keys:
        raise StateError(
            "STATE_KEY",
            f"{_named(id_, after)} keeps its state by {_listed(before.keys)}, and its key is"
            f" {_listed(after.keys)} now",
            hint=f"State is kept apart by key and cannot be dealt out anew. {_FRESH}",
        )
    known = {item.what: item for item in before.fixed}
    for item in after.fixed:
        old = known.get(item.what)
        if old != item:
            was = "" if old is None else old.words
            raise StateError(
                "CHECKPOINT_PROGRAM",
                f"{_named(id_, after)}: {_both(item.what, was, item.words)}",
                hint=f"Its state follows from that. {_FRESH}",
            )


def _both(what: str, before: str, after: str) -> str:
    if before in ("", after):
        return f"its {what} has changed"
    return f"its {what} was {before} and is {after} now"


def _check_rows(named: str, before: Columns, after: Columns) -> Iterator[str]:
    known, wanted = dict(before), dict(after)
    for name, kind in after:
        found = misfit(known[name], kind, name) if name in known else None
        if found is not None:
            raise StateError(
                "STATE_CHANGE",
                f'{named} keeps rows whose column "{found.path}" is {found.before}, and'
                f" {found.after} is declared now",
                hint=f"Let it be {found.before} or something wider, or give the new column another"
                " name.",
            )
    for old, new in alike(known, wanted):
        yield (
            f'{named} drops column "{old}", and "{new}" of the same type is null in the rows that'
            " are kept: if it was renamed, rename it in a step behind"
        )


def _check_measures(named: str, before: StateForm, after: StateForm) -> Iterator[str]:
    goes_on = continued(before.measures, after.measures)
    for measure in after.measures:
        if measure.name in goes_on:
            _require_same_measure(named, before.measures[goes_on[measure.name]], measure)
            continue
        if after.rows or measure.words == "count()":
            continue  # computed of the rows that are kept, or of their number
        _require_addable(named, after, measure)
        yield (
            f'{named} has a new measure "{measure.name}" = {measure.words}: groups that have rows'
            " already count it from now on, not from their first row"
        )


def _require_same_measure(named: str, before: StoredMeasure, after: StoredMeasure) -> None:
    if before.mark != after.mark:
        raise StateError(
            "STATE_CHANGE",
            f'{named} keeps "{after.name}" = {before.words}, and it is {after.words} now',
            hint="Give the new measure another name: it counts from now on, and the old one goes.",
        )
    for old, new in zip(before.arguments, after.arguments, strict=True):
        fits = old.type == new.type or _adds_up(old.type, new.type)
        if not fits or old.nullable != new.nullable:
            was, now = (f"{item.type}{'' if item.nullable else ' not null'}" for item in (old, new))
            raise StateError(
                "STATE_CHANGE",
                f'{named} keeps "{after.name}" = {after.words} of {was}, and it is of {now} now',
                hint="Give the new measure another name: it counts from now on, and the old one"
                " goes.",
            )


def _adds_up(before: Type, after: Type) -> bool:
    """Whether what was added up of a type stays right when numbers of another are added."""
    if (before.kind, after.kind) == (Kind.INT32, Kind.INT64):
        return True
    decimals = before.kind is after.kind is Kind.DECIMAL
    return decimals and before.scale == after.scale and before.precision <= after.precision


def _require_addable(named: str, form: StateForm, measure: StoredMeasure) -> None:
    told = f'{named} has a new measure "{measure.name}" = {measure.words}'
    if form.retracts:
        raise StateError(
            "STATE_CHANGE",
            f"{told}, and rows it has not seen may be taken back",
            hint=f"Compute it in an aggregate of its own, with a checkpoint of its own. {_FRESH}",
        )
    if measure.function == "avg" and not all(item.nullable for item in measure.arguments):
        raise StateError(
            "STATE_CHANGE",
            f"{told}, and the rows so far would count as zeros in it",
            hint=f"Add a sum and a count instead, or let its column be nullable. {_FRESH}",
        )


def _named(id_: str, form: StateForm, side: str = "") -> str:
    of = f", {side} input" if side in ("left", "right") else ""
    return f'operator "{id_}" ({form.step}{of})'


def _listed(columns: Columns) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "nothing"
