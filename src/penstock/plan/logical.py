"""A program made better by rules that keep its meaning, and a note of what each one changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.model.join import Join
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Project
from penstock.plan.rebuild import with_inputs
from penstock.plan.rules.drop_identity_project import drop_identity_project
from penstock.plan.rules.drop_true_filter import drop_true_filter
from penstock.plan.rules.filter_before_join import filter_before_join
from penstock.plan.rules.fold_constants import fold_constants
from penstock.plan.rules.look_up_changes import look_up_changes
from penstock.plan.rules.merge_filters import merge_filters
from penstock.plan.rules.merge_projects import merge_projects
from penstock.plan.rules.prune_columns import prune_columns
from penstock.plan.rules.push_filter_before_project import push_filter_before_project
from penstock.plan.rules.push_filter_before_rekey import push_filter_before_rekey
from penstock.plan.rules.push_filter_before_union import push_filter_before_union
from penstock.plan.share import Sharing

Rule: TypeAlias = Callable[[Relation], Relation]
"""Looks at one step, whose inputs are done, and gives it back or something better."""

RULES: tuple[Rule, ...] = (
    fold_constants,
    drop_true_filter,
    merge_filters,
    push_filter_before_project,
    push_filter_before_union,
    push_filter_before_rekey,
    merge_projects,
    drop_identity_project,
    look_up_changes,
)
"""Tried on every step until none has anything to do."""
LAST_RULES: tuple[Callable[[Plan], Plan], ...] = (filter_before_join, prune_columns)
"""Look at the whole program, once, after the others."""
TIDY: tuple[Rule, ...] = (merge_projects, drop_identity_project)
"""Put away what the last rules left; filters stay where they are now."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a rule made of a step."""

    rule: str
    before: Relation
    after: Relation


@dataclass(frozen=True, slots=True)
class Logical:
    """The program after the rules, and what they did, in order."""

    program: Plan
    changes: tuple[Change, ...]


def improve(program: Plan) -> Logical:
    """Apply all rules; every sink gets the same rows as before."""
    sharing = Sharing()
    better, changes = _rewritten(program, RULES, sharing)
    for rule in LAST_RULES:
        before, made = better, rule(better)
        if made is before:
            continue
        better, more = _rewritten(made, TIDY if rule is prune_columns else RULES, sharing)
        changes += _narrowed(before, better) if rule is prune_columns else _filtered(before, made)
        changes += [] if rule is prune_columns else more
    return Logical(better, tuple(changes))


def _rewritten(
    program: Plan, rules: tuple[Rule, ...], sharing: Sharing
) -> tuple[Plan, list[Change]]:
    rewriting = _Rewriting(rules)
    known = sharing.of(program)
    sinks = (replace(sink, relation=rewriting.best(sink.relation)) for sink in known.sinks)
    return sharing.of(replace(known, sinks=tuple(sinks))), rewriting.changes


class _Rewriting:
    """One pass over a program: inputs first, each step once."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.changes: list[Change] = []
        self._rules = rules
        self._done: dict[int, tuple[Relation, Relation]] = {}

    def best(self, relation: Relation) -> Relation:
        """Give what the rules make of a step and all before it."""
        known = self._done.get(id(relation))
        if known is not None:
            return known[1]
        inputs = tuple(self.best(item) for item in relation.inputs)
        result = self._by_rule(with_inputs(relation, inputs))
        # The step itself is kept beside its answer: an id may be given again once it is gone.
        self._done[id(relation)] = (relation, result)
        return result

    def _by_rule(self, relation: Relation) -> Relation:
        for rule in self._rules:
            better = rule(relation)
            if better is not relation:
                self.changes.append(Change(rule.__name__, relation, better))
                return self.best(better)
        return relation


def _filtered(before: Plan, after: Plan) -> Iterator[Change]:
    """Give the joins whose sides are filtered."""
    old = [step for step in before.walk() if isinstance(step, Join)]
    new = [step for step in after.walk() if isinstance(step, Join)]
    for one, other in zip(old, new, strict=True):
        if one != other:
            yield Change(filter_before_join.__name__, one, other)


def _narrowed(before: Plan, after: Plan) -> Iterator[Change]:
    """Give the streams of which fewer columns are read."""
    known = list(before.walk())
    for step in after.walk():
        if isinstance(step, Project) and isinstance(step.source, Stream) and step not in known:
            yield Change(prune_columns.__name__, step.source, step)
