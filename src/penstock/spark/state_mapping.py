"""Which operators of a program go on with which states of a savepoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from penstock.errors import StateError, UsageError, did_you_mean
from penstock.model.physical import Physical
from penstock.plan.form_document import read_form
from penstock.plan.state_change import check_form
from penstock.plan.state_form import state_form
from penstock.spark.progress_file import Left
from penstock.spark.state_forms import Forms, state_forms

Wanted: TypeAlias = Mapping[str, str | None]
"""For an operator the one whose state it takes; none where it is to begin with nothing."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The states that go on, by the new operator; those that begin empty, and those dropped."""

    goes_on: Mapping[str, str]
    empty: tuple[str, ...]
    dropped: tuple[str, ...]
    stored: Forms
    """The form that the state of each new operator has at first."""
    warnings: tuple[str, ...] = ()


def mapped_states(
    saved: Forms, physical: Physical, wanted: Wanted, *, empty_ok: bool = False
) -> Mapped:
    """Map the operators of a program to saved states, by the caller's word or by id and kind."""
    _require_known(saved, physical, wanted)
    goes_on: dict[str, str] = {}
    empty: list[str] = []
    unasked: list[str] = []
    for keyed in physical.operators:
        free = {old: form for old, form in saved.items() if old not in wanted.values()}
        old = wanted.get(keyed.id, _alike(free, keyed.id, type(keyed.relation).__name__))
        if old is not None:
            goes_on[keyed.id] = old
            continue
        empty.append(keyed.id)
        if keyed.id not in wanted:
            unasked.append(keyed.id)
    if unasked and not empty_ok:
        raise StateError(
            "OPERATOR_EMPTY",
            f'operator "{unasked[0]}" of program "{physical.name}" finds no state of its own among'
            f" {', '.join(saved) or 'none'}",
            hint="Say which state it takes, or allow it to begin with nothing (empty_ok).",
        )
    dropped = tuple(old for old in saved if old not in goes_on.values())
    return _checked(Mapped(goes_on, tuple(empty), dropped, {}), saved, physical)


def renamed_counts(left: Left, mapped: Mapped, physical: Physical) -> Left:
    """Give what a batch left under the names of the new operators."""
    told: dict[str, Any] = dict(left.told)
    known = {keyed.id for keyed in physical.operators}
    olds = set(mapped.goes_on.values()) | set(mapped.dropped)
    for part in ("base", "counts", "state"):
        found: Mapping[str, Any] = told.get(part, {})
        others = {name: value for name, value in found.items() if name not in known | olds}
        own = {new: found[old] for new, old in mapped.goes_on.items() if old in found}
        told[part] = {**others, **own}
    return replace(left, told=told)


def _require_known(saved: Forms, physical: Physical, wanted: Wanted) -> None:
    news = [keyed.id for keyed in physical.operators]
    asked = [(new, news) for new in wanted]
    asked += [(old, list(saved)) for old in wanted.values() if old is not None]
    for name, known in asked:
        if name not in known:
            raise UsageError(
                "OPERATOR_MISSING",
                f'there is no operator with state "{name}"',
                hint=did_you_mean(name, known) or f"There are {', '.join(known) or 'none'}.",
            )
    taken = [old for old in wanted.values() if old is not None]
    for old in taken:
        if taken.count(old) > 1:
            raise UsageError(
                "OPERATOR_TAKEN",
                f'the state of operator "{old}" is given to two',
                hint="Give it to one, and let the other begin with nothing.",
            )


def _alike(saved: Forms, operator: str, kind: str) -> str | None:
    found = saved.get(operator)
    return operator if found is not None and found["kind"] == kind else None


def _checked(mapped: Mapped, saved: Forms, physical: Physical) -> Mapped:
    own = state_forms(physical)
    stored: dict[str, Mapping[str, Any]] = {}
    warnings: list[str] = []
    for keyed in physical.operators:
        old = mapped.goes_on.get(keyed.id)
        if old is None:
            stored[keyed.id] = own[keyed.id]
            continue
        stored[keyed.id] = saved[old]
        warnings += check_form(keyed, read_form(saved[old]), state_form(keyed))
    return replace(mapped, stored=stored, warnings=tuple(warnings))
