"""ON b.time BETWEEN a.time AND a.until: each row of one side says how long it may be met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.front.sql.expression import Resolver
from penstock.front.sql.join.side import Side
from penstock.front.sql.source import ROW_TIME
from penstock.front.sql.tree_expression import Between, Comparison, Expression
from penstock.front.sql.tree_query import Aliased, Relation, Source
from penstock.model.expr import Column
from penstock.model.join_bound import Lasting
from penstock.schema.types import Kind

Order: TypeAlias = tuple[Expression, Expression]
"""What is not after what."""
_ENDS = (Kind.TIMESTAMP, Kind.INT64)


@dataclass(frozen=True, slots=True)
class Found:
    """The bound that conditions say, and those of them that say more."""

    bound: Lasting
    rest: tuple[Expression, ...]


def lasting(
    conditions: Sequence[Expression],
    sides: tuple[Side, Side],
    said: tuple[Relation, Relation],
    resolver: Resolver,
) -> Found | None:
    """Give how long rows last, where conditions compare the times of both sides and an end."""
    times = tuple(_times(side, relation) for side, relation in zip(sides, said, strict=True))
    held = [(item, [_held(pair, resolver) for pair in _orders(item)]) for item in conditions]
    orders = {pair for _, pairs in held for pair in pairs}
    names: tuple[Literal["left", "right"], ...] = ("left", "right")
    for port, name in enumerate(names):
        own, other = times[port], times[1 - port]
        begins = {(one, two) for one, two in orders if one in own and two in other}
        kinds = {it.held: it.type.kind for it in sides[port].rows.scope.columns}
        ends = sorted(
            two for one, two in orders if one in other and two not in own and two in kinds
        )
        if begins and ends and kinds[ends[0]] in _ENDS:
            used = begins | {(one, ends[0]) for one in other}
            rest = [item for item, pairs in held if not (_exact(item) and set(pairs) <= used)]
            return Found(Lasting(name, ends[0]), tuple(rest))
    return None


def _times(side: Side, said: Relation) -> frozenset[str]:
    """Give the columns that tell when rows of a source happened."""
    if not isinstance(said.relation if isinstance(said, Aliased) else said, Source):
        return frozenset()
    time = side.rows.first.event_time
    names = (ROW_TIME, *((time.column,) if time is not None and time.pattern is None else ()))
    return frozenset(it.held for it in side.rows.scope.columns if it.name in names)


def _orders(condition: Expression) -> Iterator[Order]:
    match condition:
        case Between(operand, low, high, False):
            yield low, operand
            yield operand, high
        case Comparison("<" | "<=", left, right):
            yield left, right
        case Comparison(">" | ">=", left, right):
            yield right, left
        case _:
            return


def _exact(condition: Expression) -> bool:
    """Whether a condition says no more than what is not after what."""
    ends = ("<=", ">=")
    return isinstance(condition, Between) or (
        isinstance(condition, Comparison) and condition.operator in ends
    )


def _held(order: Order, resolver: Resolver) -> tuple[str, str]:
    one, other = (resolver.typed(item).expr for item in order)
    return (
        one.name if isinstance(one, Column) else "",
        other.name if isinstance(other, Column) else "",
    )
