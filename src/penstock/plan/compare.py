"""Two programs compared, part by part: what differs, and what that takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from datetime import timedelta

from penstock.errors import StateError
from penstock.model.aggregate import Aggregate
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.physical import Keyed, Physical, Stateful
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.plan.compare_stream import compare_streams
from penstock.plan.finding import Finding
from penstock.plan.provenance import Way, ways_to
from penstock.plan.state_change import check_form
from penstock.plan.state_form import state_form
from penstock.plan.step_text import step_text
from penstock.plan.token import token
from penstock.plan.user_code import by_bytecode

_OF_FORM = frozenset({"source", "left", "right", "site"})
_CODE = frozenset({"processor", "measures"})
"""Parts of a step that hold the user's own code; what else is in them shows in its state."""


class Comparison:
    """Compares the parts of two programs; `matched` says which operator was which."""

    def __init__(self, before: Physical, after: Physical, matched: Mapping[str, str]) -> None:
        self._before = {keyed.id: keyed for keyed in before.operators}
        self._ids = {id(keyed.relation): keyed.id for keyed in after.operators}
        self._old_ids = {id(keyed.relation): keyed.id for keyed in before.operators}
        self._matched = matched

    def operator(self, after: Keyed) -> Iterator[Finding]:
        """Compare an operator with the one whose state it is to go on with."""
        old = self._matched.get(after.id)
        if old is None:
            step = step_text(after.relation)
            yield Finding(after.id, "rebuild", f'"{step}" is new and remembers nothing yet')
            return
        before = self._before[old]
        state = list(_of_state(before, after))
        yield from state
        if not any(item.kind == "rebuild" for item in state):
            declared = any(item.kind == "migrate" for item in state)
            yield from _of_itself(before, after, declared=declared)
            yield from self._of_inputs(before.relation, after.relation, after.id)

    def rows(self, before: Relation, after: Relation, part: str) -> Iterator[Finding]:
        """Compare the ways on which rows come to two steps."""
        old, new = list(ways_to(before)), list(ways_to(after))
        if len(old) != len(new):
            reason = f"its rows come on {len(new)} ways, and came on {len(old)}"
            yield Finding(part, "rebuild", reason)
            return
        for one, other in zip(old, new, strict=True):
            yield from self._way(one, other, part)

    def _of_inputs(self, before: Stateful, after: Stateful, part: str) -> Iterator[Finding]:
        for one, other in zip(before.inputs, after.inputs, strict=True):
            yield from self.rows(one, other, part)

    def _way(self, before: Way, after: Way, part: str) -> Iterator[Finding]:
        yield from self._origin(before.origin, after.origin, part)
        if not _done_alike(before, after):
            yield Finding(part, "rebuild", _done_otherwise(before, after), forward=True)
        for name in after.columns:
            if name in before.columns and before.mark_of(name) != after.mark_of(name):
                reason = f'column "{name}" is computed in another way'
                yield Finding(part, "rebuild", reason, forward=True)

    def _origin(
        self, before: Stream | Stateful, after: Stream | Stateful, part: str
    ) -> Iterator[Finding]:
        if isinstance(before, Stream) and isinstance(after, Stream):
            yield from compare_streams(before, after, part)
            return
        new, old = self._ids.get(id(after)), self._old_ids.get(id(before))
        if new is None or old is None or self._matched.get(new) != old:
            here, there = (_origin_words(item) for item in (after, before))
            yield Finding(part, "rebuild", f"its rows come from {here}, and came from {there}")


def _of_state(before: Keyed, after: Keyed) -> Iterator[Finding]:
    """Say whether the stored state can become that of the operator."""
    old, new = state_form(before), state_form(after)
    try:
        warnings = check_form(after, old, new)
    except StateError as refusal:
        yield Finding(after.id, "rebuild", refusal.fact)
        return
    if old != new:
        told = warnings or (f'the state of "{step_text(after.relation)}" gets another form',)
        yield from (Finding(after.id, "migrate", text) for text in told)


def _of_itself(before: Keyed, after: Keyed, *, declared: bool) -> Iterator[Finding]:
    one, other = _without_lateness(before.relation), _without_lateness(after.relation)
    for item in fields(after.relation):
        if item.name in _OF_FORM or not item.compare:
            continue
        old, new = getattr(one, item.name), getattr(other, item.name)
        if item.name == "measures":
            old, new = _common_measures(one, other)
        if isinstance(other, Process) and item.name == "state":
            continue
        if token(old, by_bytecode) == token(new, by_bytecode):
            continue
        if item.name in _CODE and declared:
            reason = "its code has changed with its state: results so far stay as they are"
            yield Finding(after.id, "migrate", reason)
        elif item.name in _CODE:
            reason = f'the code of "{step_text(after.relation)}" has changed'
            yield Finding(after.id, "rebuild", reason, forward=True)
        else:
            reason = f'the {item.name} of "{step_text(after.relation)}" have changed'
            yield Finding(after.id, "rebuild", reason)
    yield from _lateness(before, after)


def _lateness(before: Keyed, after: Keyed) -> Iterator[Finding]:
    if (before.keep_late, before.delay) != (after.keep_late, after.delay) or _kept(
        before.relation
    ) != _kept(after.relation):
        reason = f"late rows are taken for {after.keep_late} from now on, and were for"
        yield Finding(after.id, "compatible", f"{reason} {before.keep_late}")
    if _times_to_live(before.relation) != _times_to_live(after.relation):
        reason = "what it remembers is kept for another time from now on"
        yield Finding(after.id, "compatible", reason)


def _without_lateness(relation: Stateful) -> Stateful:
    if isinstance(relation, Aggregate):
        return replace(relation, refinement=replace(relation.refinement, keep_late=None))
    if isinstance(relation, Join):
        bound = relation.bound
        if isinstance(bound, AsOf):
            bound = replace(bound, keep=timedelta(0))
        return replace(relation, keep_late=timedelta(0), bound=bound)
    return relation


def _kept(relation: Stateful) -> timedelta | None:
    bound = relation.bound if isinstance(relation, Join) else None
    return bound.keep if isinstance(bound, AsOf) else None


def _times_to_live(relation: Stateful) -> Mapping[str, timedelta | None]:
    if not isinstance(relation, Process):
        return {}
    return {item.name: item.ttl for item in relation.state}


def _common_measures(before: Stateful, after: Stateful) -> tuple[object, object]:
    """Give the measures that both have: those that came or went show in the state."""
    assert isinstance(before, Aggregate)
    assert isinstance(after, Aggregate)
    old = {item.name: item for item in before.measures}
    new = {item.name: item for item in after.measures}
    both = sorted(old.keys() & new.keys())
    return tuple(old[name] for name in both), tuple(new[name] for name in both)


def _done_alike(before: Way, after: Way) -> bool:
    if len(before.done) != len(after.done):
        return False
    return all(one.is_like(other) for one, other in zip(before.done, after.done, strict=True))


def _done_otherwise(before: Way, after: Way) -> str:
    gone = [item.words for item in before.done if item not in after.done]
    came = [item.words for item in after.done if item not in before.done]
    if gone and came:
        if gone == came:
            return f'the code of "{came[0]}" has changed'
        return f'"{came[0]}" is now where "{gone[0]}" was'
    if came:
        return f'"{came[0]}" is new'
    if gone:
        return f'"{gone[0]}" is gone'
    return "the steps before it come in another order, or read columns that are others"


def _origin_words(origin: Stream | Stateful) -> str:
    return f'topic "{origin.topic}"' if isinstance(origin, Stream) else f'"{step_text(origin)}"'
