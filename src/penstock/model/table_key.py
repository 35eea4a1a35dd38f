"""What tells the rows of a table apart: its key, if a relation is a table."""

from __future__ import annotations

from penstock.model.aggregate import WINDOW_END, WINDOW_START, Aggregate
from penstock.model.enrich import Enrich
from penstock.model.expr import Column
from penstock.model.join import Join
from penstock.model.join_bound import Whole
from penstock.model.latest import Latest
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Expect, Filter, Project, Rekey, Restamp
from penstock.model.top_n import TopN
from penstock.model.versions import VALID_FROM, Versions

_LEFT_ALONE = ("semi", "anti")
_LEFT_FIRST = ("inner", "left")


def table_key(relation: Relation) -> tuple[str, ...] | None:
    """Give the columns of which no two rows have the same values; none where it is a stream."""
    match relation:
        case Latest() | Versions():
            begins = (VALID_FROM,) if isinstance(relation, Versions) else ()
            return relation.keys + begins
        case Aggregate():
            return _of_aggregate(relation)
        case (
            Filter()
            | Expect()
            | Restamp()
            | Rekey()
            | Apply(shape="filter")
            | Enrich(how="semi" | "anti")
        ):
            return table_key(relation.inputs[0])
        case Project() | TopN():
            return _of_project(relation) if isinstance(relation, Project) else _of_top(relation)
        case Join(bound=Whole()):
            return _of_join(relation)
        case _:
            return None


def _of_top(relation: TopN) -> tuple[str, ...] | None:
    if relation.ties or relation.until is not None:
        return None
    if relation.n == 1 and relation.keys:
        return relation.keys
    return None if relation.number is None else (*relation.keys, relation.number)


def _of_aggregate(relation: Aggregate) -> tuple[str, ...] | None:
    if not relation.retracts:
        return None
    bounds = () if relation.window is None else (WINDOW_START, WINDOW_END)
    return relation.keys + bounds


def _of_project(relation: Project) -> tuple[str, ...] | None:
    known = table_key(relation.source)
    names = {
        column.expr.name: column.name
        for column in reversed(relation.columns)
        if isinstance(column.expr, Column)
    }
    if known is None or any(key not in names for key in known):
        return None
    return tuple(names[key] for key in known)


def _of_join(relation: Join) -> tuple[str, ...] | None:
    left, right = table_key(relation.left), table_key(relation.right)
    if left is None or right is None:
        return None
    from_left = {pick.left: pick.name for pick in reversed(relation.columns) if pick.left}
    from_right = {pick.right: pick.name for pick in reversed(relation.columns) if pick.right}
    keys = (_named(left, from_left), _named(right, from_right))
    # A row that has one partner at most is still told apart by its own key.
    if relation.how in _LEFT_ALONE or (
        set(right) <= set(relation.right_keys) and relation.how in _LEFT_FIRST
    ):
        return keys[0]
    if set(left) <= set(relation.left_keys):
        if relation.how in ("inner", "right"):
            return keys[1]
        if set(right) == set(relation.right_keys):
            return relation.keys
    return None if keys[0] is None or keys[1] is None else tuple(dict.fromkeys(keys[0] + keys[1]))


def _named(keys: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...] | None:
    return tuple(names[key] for key in keys) if all(key in names for key in keys) else None
