"""Rows that cannot be part of a result are not kept for partners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved, columns_of
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, SameWindow, Whole
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Updates
from penstock.model.window import Session
from penstock.plan.rebuild import with_inputs
from penstock.plan.substitute import substitute

_OF_LEFT = ("inner", "semi", "anti")


def filter_before_join(program: Plan) -> Plan:
    """Filter the sides of a join by what is asked of its result, which stays as it is.

    Only where no other step reads the join: two that filter otherwise share its state.
    """
    readers = Counter(id(item) for step in program.walk() for item in step.inputs)
    readers.update(id(sink.relation) for sink in program.sinks)
    pushing = _Pushing(readers)
    sinks = tuple(replace(sink, relation=pushing.done(sink.relation)) for sink in program.sinks)
    same = all(a.relation is b.relation for a, b in zip(sinks, program.sinks, strict=True))
    return program if same else replace(program, sinks=sinks)


class _Pushing:
    def __init__(self, readers: Counter[int]) -> None:
        self._readers = readers
        self._done: dict[int, Relation] = {}

    def done(self, relation: Relation) -> Relation:
        if id(relation) not in self._done:
            self._done[id(relation)] = self._made(relation)
        return self._done[id(relation)]

    def _made(self, relation: Relation) -> Relation:
        if isinstance(relation, Filter):
            join = self._joined(relation.source)
            if join is not None:
                return with_inputs(relation, (self._pushed(relation, join),))
        return with_inputs(relation, tuple(self.done(item) for item in relation.inputs))

    def _joined(self, relation: Relation) -> Join | None:
        """Give the join whose rows come to a filter, and to nobody else."""
        if self._readers[id(relation)] > 1:
            return None
        if isinstance(relation, Updates) and isinstance(relation.source, Join):
            return self._joined(relation.source)
        return relation if isinstance(relation, Join) and _divides(relation) else None

    def _pushed(self, asked: Filter, join: Join) -> Relation:
        sides = []
        for side, source in (("left", join.left), ("right", join.right)):
            inner = self.done(source)
            for condition in _conditions(asked.condition):
                own = _of_side(condition, join, side)
                inner = inner if own is None else Filter(inner, own, asked.site)
            sides.append(inner)
        made = with_inputs(join, tuple(sides))
        return made if asked.source is join else with_inputs(asked.source, (made,))


def _divides(join: Join) -> bool:
    """Whether pairs do not depend on rows beside their own two."""
    if isinstance(join.bound, SameWindow) and isinstance(join.bound.window, Session):
        return False
    return join.how in _OF_LEFT and not isinstance(join.bound, Whole)


def _of_side(condition: Expr, join: Join, side: str) -> Expr | None:
    """Give a condition on the rows of one side; none where it asks for more."""
    if side == "right" and (join.how != "inner" or isinstance(join.bound, AsOf)):
        return None
    held = {pick.name: getattr(pick, side) for pick in join.columns}
    names = set(columns_of(condition))
    if not names or not all(held.get(name) for name in names) or not _steady(condition):
        return None
    return substitute(condition, {name: Column(held[name]) for name in names})


def _conditions(condition: Expr) -> Iterator[Expr]:
    match condition:
        case Call("and", parts) | Resolved("and", parts):
            for part in parts:
                yield from _conditions(part)
        case _:
            yield condition


def _steady(expr: Expr) -> bool:
    """Whether an expression is the same each time, and none of the user's."""
    match expr:
        case Column() | Literal():
            return True
        case Cast(operand, _):
            return _steady(operand)
        case Resolved(user=user) if user is not None:
            return False
        case Call(_, arguments) | Resolved(_, arguments):
            return bool(arguments) and all(map(_steady, arguments))
        case Lambda():
            return False
        case _:
            return False
