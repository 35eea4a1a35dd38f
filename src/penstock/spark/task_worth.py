"""How many rows are worth a reading task of their own, by what is done with each of them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from penstock.model.aggregate import Aggregate
from penstock.model.physical import Physical
from penstock.model.relation import Relation
from penstock.model.stateless import Apply
from penstock.model.user_code import Trial, UserCode

# A second task costs some 20 ms of processor time: as much as so many rows by whole columns,
_BY_COLUMNS = 200_000
# of bytes that a format has to be read from,
_BY_FORMAT = 20_000
# and of a function of the user, which may take its time for each.
_BY_FUNCTION = 1


def rows_worth_a_task(physical: Physical) -> int:
    """Give how many rows there should be for each task that reads a program's topics."""
    steps = [step for scan in physical.scans for chain in scan.chains for step in chain.steps]
    # Rows are folded where they are read, too.
    folds = [keyed.relation for keyed in physical.operators if keyed.level == 0]
    aggregates = [relation for relation in folds if isinstance(relation, Aggregate)]
    if any(_calls_functions(step) for step in (*steps, *aggregates)):
        return _BY_FUNCTION
    read = any(scan.stream.format or scan.stream.files for scan in physical.scans)
    return _BY_FORMAT if read else _BY_COLUMNS


def _calls_functions(value: object) -> bool:
    """Whether a step, or what it holds, is a function of the user's own."""
    if isinstance(value, Apply | UserCode | Trial):
        return True
    if isinstance(value, tuple):
        return any(_calls_functions(item) for item in value)
    if not is_dataclass(value):
        return False
    held = ((field.name, getattr(value, field.name)) for field in fields(value))
    # A measure's `user` is an object of any class; the steps before are asked for themselves.
    return any(
        (name == "user" and item is not None) or _calls_functions(item)
        for name, item in held
        if not isinstance(item, Relation)
    )
