"""How many rows are worth a task of their own, by what is done with each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass

from penstock.model.aggregate import Aggregate
from penstock.model.physical import Chain, Physical
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.stateless import Apply
from penstock.model.user_code import Trial, UserCode

# A second task costs some 20 ms of processor time: as much as so many rows by whole columns,
_BY_COLUMNS = 200_000
# of bytes that a format has to be read from, or written to,
_BY_FORMAT = 20_000
# and of a function of the user, which may take its time for each.
_BY_FUNCTION = 1


def rows_worth_a_task(physical: Physical) -> int:
    """Give how many rows there should be for each task that reads a program's topics."""
    # Rows are folded where they are read, too.
    folds = [keyed.relation for keyed in physical.operators if keyed.level == 0]
    aggregates = [relation for relation in folds if isinstance(relation, Aggregate)]
    steps = _steps_of(chain for scan in physical.scans for chain in scan.chains)
    read = any(scan.stream.format or scan.stream.files for scan in physical.scans)
    return min(_BY_FORMAT if read else _BY_COLUMNS, _worth(steps), _worth(aggregates))


def rows_of_a_whole(physical: Physical) -> int | None:
    """Give up to how many rows one task takes through all levels; none where it never does.

    Functions of the user behind an exchange may take their time: they keep all cores.
    """
    if not physical.levels or not physical.settings.fuse:
        return None
    steps = _steps_of(chain for keyed in physical.operators for chain in keyed.chains)
    later = min(_worth(steps), _worth([keyed.relation for keyed in physical.operators]))
    if later == _BY_FUNCTION:
        return None
    # As many as one task reads: half as many again are not worth a second one.
    return 3 * min(later, rows_worth_a_task(physical)) // 2


def _steps_of(chains: Iterable[Chain]) -> list[object]:
    return [step for chain in chains for step in chain.steps]


def _worth(values: Iterable[object]) -> int:
    """Give the fewest rows that are worth a task for any of some steps, or what they hold."""
    return min((_worth_of(value) for value in values), default=_BY_COLUMNS)


def _worth_of(value: object) -> int:
    if isinstance(value, Apply) and _is_ours(value):
        return _BY_COLUMNS if value.shape == "polars" else _BY_FORMAT
    if isinstance(value, Apply | Process | UserCode | Trial):
        return _BY_FUNCTION
    if isinstance(value, tuple):
        return _worth(value)
    if not is_dataclass(value):
        return _BY_COLUMNS
    held = [(field.name, getattr(value, field.name)) for field in fields(value)]
    # A measure's `user` is an object of any class.
    if any(name == "user" and item is not None for name, item in held):
        return _BY_FUNCTION
    # The steps before are asked for themselves.
    return _worth(item for _, item in held if not isinstance(item, Relation))


def _is_ours(step: Apply) -> bool:
    """Whether a step is of SQL's own: a function of whole tables, that no user has written."""
    whole = step.shape in ("arrow", "polars")
    return whole and type(step.function).__module__.startswith("penstock.")
