"""Functions of the user in windows and triggers: called before, so that what fails is put aside."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.front.sql.user_measures import calls_user
from penstock.front.sql.window import Placed
from penstock.model.expr import Column, Expr
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.model.trigger import (
    AfterRow,
    AllOf,
    AnyOf,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
)
from penstock.model.window import Buffered, ByPunctuation, Policy, Session, Window

_CONDITION = "_c"


def with_conditions(rows: Relation, where: Placed) -> tuple[Relation, Placed]:
    """Give rows with what windows and triggers ask of the user's functions, as columns."""
    asking = _Asking()
    window = None if where.window is None else asking.window(where.window)
    trigger = None if where.trigger is None else asking.trigger(where.trigger)
    if not asking.found:
        return rows, where
    same = [Named(name, Column(name)) for name in rows.schema.names]
    others = [Named(column.name, expr) for expr, column in asking.found.items()]
    made = Project(rows, (*same, *others), "EMIT")
    return made, replace(where, window=window, trigger=trigger)


class _Asking:
    def __init__(self) -> None:
        self.found: dict[Expr, Column] = {}

    def expr(self, expr: Expr) -> Expr:
        if not calls_user(expr):
            return expr
        return self.found.setdefault(expr, Column(f"{_CONDITION}{len(self.found)}"))

    def trigger(self, trigger: Trigger) -> Trigger:
        match trigger:
            case AfterRow(condition):
                return AfterRow(self.expr(condition))
            case Repeat(inner):
                return Repeat(self.trigger(inner))
            case AnyOf(parts) | AllOf(parts) | Sequence(parts):
                return replace(trigger, triggers=tuple(map(self.trigger, parts)))
            case Until(inner, end):
                return Until(self.trigger(inner), self.trigger(end))
            case WhenClosed(early, late):
                return WhenClosed(self._maybe(early), self._maybe(late))
            case _:
                return trigger

    def window(self, window: Window) -> Window:
        match window:
            case Session(gap) if not isinstance(gap, timedelta):
                return replace(window, gap=self.expr(gap))
            case Buffered(evict=evict, fire=fire):
                later = None if fire is None else self._policy(fire)
                return replace(window, evict=self._policy(evict), fire=later)
            case _:
                return window

    def _maybe(self, trigger: Trigger | None) -> Trigger | None:
        return None if trigger is None else self.trigger(trigger)

    def _policy(self, policy: Policy) -> Policy:
        match policy:
            case ByPunctuation(condition):
                return ByPunctuation(self.expr(condition))
            case _:
                return policy
