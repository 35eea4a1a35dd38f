"""Functions of the user in aggregates: called before rows are folded, so that one that fails goes.

A row that an aggregate of the user's own cannot take is a dead letter, as one that makes a
scalar function raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved
from penstock.model.measure import Measure
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project
from penstock.model.user_code import CodeAggregate, Trial
from penstock.schema.types import BOOLEAN

_ARGUMENT = "_a"


def prepared(
    relation: Relation, measures: Sequence[Measure]
) -> tuple[Relation, tuple[Measure, ...]]:
    """Give rows with the arguments that the user's functions compute, and measures of these."""
    computed = {
        argument: Column(f"{_ARGUMENT}{place}_{number}")
        for place, measure in enumerate(measures)
        for number, argument in enumerate(measure.arguments)
        if calls_user(argument)
    }
    made = tuple(
        replace(measure, arguments=tuple(computed.get(it, it) for it in measure.arguments))
        for measure in measures
    )
    if computed:
        same = [Named(name, Column(name)) for name in relation.schema.names]
        others = [Named(column.name, argument) for argument, column in computed.items()]
        relation = Project(relation, (*same, *others), "aggregates")
    for measure in made:
        if isinstance(measure.user, CodeAggregate):
            relation = Filter(relation, _taken(measure, measure.user), measure.site)
    return relation, made


def _taken(measure: Measure, user: CodeAggregate) -> Expr:
    code = user.code
    trial = Resolved(f"{code.name.lower()} (yours)", measure.arguments, BOOLEAN, Trial(code))
    # Where it is not asked, since a value is null, the row stays.
    return Call("coalesce", (trial, Literal(value=True)))


def calls_user(expr: Expr) -> bool:
    """Whether a function of the user is called in an expression."""
    match expr:
        case Resolved(arguments=arguments, user=user):
            return user is not None or any(map(calls_user, arguments))
        case Call(arguments=arguments):
            return any(map(calls_user, arguments))
        case Cast(operand) | Lambda(body=operand):
            return calls_user(operand)
        case _:
            return False
