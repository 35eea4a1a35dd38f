"""Which operator of a program goes on with the state of which of the program before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from penstock.errors import StateError
from penstock.model.physical import Keyed, Physical
from penstock.plan.state_change import check_form
from penstock.plan.state_form import state_form
from penstock.plan.token import token
from penstock.plan.user_code import by_bytecode

_Alike: TypeAlias = Callable[[Keyed, Keyed], bool]


def match_operators(before: Physical, after: Physical) -> Mapping[str, str]:
    """Give the id of the operator before for each one that has one: its equal, or its like.

    First those that are the same with all that lies before them; then those of the same name
    whose states can be taken over; then any whose can; last those of one kind and name.
    """
    found: dict[str, str] = {}
    for alike in (_equal, _same_name_and_form, _same_form, _same_name):
        for new in after.operators:
            if new.id in found:
                continue
            free = (old for old in before.operators if old.id not in found.values())
            old = next((item for item in free if alike(item, new)), None)
            if old is not None:
                found[new.id] = old.id
    return {new.id: found[new.id] for new in after.operators if new.id in found}


def _equal(before: Keyed, after: Keyed) -> bool:
    if type(before.relation) is not type(after.relation):
        return False
    return token(before.relation, by_bytecode) == token(after.relation, by_bytecode)


def _same_name_and_form(before: Keyed, after: Keyed) -> bool:
    return before.id == after.id and _same_form(before, after)


def _same_form(before: Keyed, after: Keyed) -> bool:
    if type(before.relation) is not type(after.relation):
        return False
    try:
        check_form(after, state_form(before), state_form(after))
    except StateError:
        return False
    return True


def _same_name(before: Keyed, after: Keyed) -> bool:
    return before.id == after.id and type(before.relation) is type(after.relation)
