"""Where the columns of a relation come from: which columns of which sources, and how.

A column that a function of the user's makes may come from any column that the function sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from penstock.model.aggregate import WINDOW_END, WINDOW_START, Aggregate
from penstock.model.enrich import Enrich
from penstock.model.expr import Column, Expr, columns_of
from penstock.model.join import Join, Pick
from penstock.model.match import Match
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Expect, Filter, Project, Restamp, Retire, Union
from penstock.model.top_n import TopN
from penstock.model.versions import VALID_FROM, VALID_TO

How: TypeAlias = Literal["IDENTITY", "TRANSFORMATION", "AGGREGATION"]
"""What became of a value on its way, in the words of OpenLineage."""
Why: TypeAlias = Literal["FILTER", "GROUP_BY", "JOIN", "SORT", "WINDOW", "CONDITIONAL"]
"""Why a column matters to rows in which it is not, in the words of OpenLineage."""
_STRENGTH: Mapping[How, int] = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}
_TIMES = (WINDOW_START, WINDOW_END, VALID_FROM, VALID_TO)


@dataclass(frozen=True, slots=True)
class Source:
    """A column of something that is read: `kind` is topic, file, store or static."""

    kind: str
    name: str
    column: str


Origins: TypeAlias = Mapping[Source, How]


@dataclass(frozen=True, slots=True)
class Lineage:
    """Of each column what it is made of, and what else decides which rows there are."""

    columns: Mapping[str, Origins]
    decides: frozenset[tuple[Source, Why]] = frozenset()
    times: Origins = field(default_factory=dict)
    """What tells when rows happened."""


Inputs: TypeAlias = Sequence[Lineage]


def lineage_of(relation: Relation) -> Lineage:
    """Give where all columns of a relation come from."""
    done: dict[int, Lineage] = {}
    for step in relation.walk():
        inputs = [done[id(item)] for item in step.inputs]
        done[id(step)] = _step(step, inputs)
    return done[id(relation)]


def _step(step: Relation, inputs: Inputs) -> Lineage:
    make = next((make for kind, make in _STEPS.items() if isinstance(step, kind)), _passing)
    return make(step, inputs)


def _stream(step: Stream, _: Inputs) -> Lineage:
    kind = "topic" if step.files is None else "file"
    place = step.topic if step.files is None else step.files
    columns: dict[str, Origins] = {
        name: {Source(kind, place, name): "IDENTITY"} for name in step.schema.names
    }
    times = {} if step.event_time is None else columns[step.event_time]
    return Lineage(columns, times=times)


def _project(step: Project, inputs: Inputs) -> Lineage:
    (before,) = inputs
    made = {item.name: _of_expr(item.expr, before) for item in step.columns}
    return Lineage(made, before.decides, before.times)


def _filter(step: Filter | Expect | Retire, inputs: Inputs) -> Lineage:
    return _decided(inputs[0], columns_of(step.condition), "FILTER")


def _top_n(step: TopN, inputs: Inputs) -> Lineage:
    decided = _decided(inputs[0], step.reads, "SORT")
    if step.number is None:
        return decided
    return replace(decided, columns={**decided.columns, step.number: {}})


def _restamp(step: Restamp, inputs: Inputs) -> Lineage:
    (before,) = inputs
    return Lineage(before.columns, before.decides, before.columns[step.event_time])


def _of_expr(expr: Expr, before: Lineage) -> Origins:
    if isinstance(expr, Column):
        return before.columns[expr.name]
    return _merged((before.columns.get(name, {}) for name in columns_of(expr)), "TRANSFORMATION")


def _aggregate(step: Aggregate, inputs: Inputs) -> Lineage:
    (before,) = inputs
    columns: dict[str, Origins] = {key: before.columns[key] for key in step.keys}
    for measure in step.measures:
        read = (name for argument in measure.arguments for name in columns_of(argument))
        columns[measure.name] = _merged((before.columns[name] for name in read), "AGGREGATION")
    times = _merged([before.times], "TRANSFORMATION")
    found = {name: columns.get(name, times if name in _TIMES else {}) for name in step.schema.names}
    decided = _decided(before, step.keys, "GROUP_BY").decides
    if step.window is not None:
        decided |= {(source, "WINDOW") for source in before.times}
    return Lineage(found, decided, times)


def _match(step: Match, inputs: Inputs) -> Lineage:
    (before,) = inputs
    made = {item.name: _of_expr(item.expr, before) for item in step.measures}
    columns = {name: made.get(name, before.columns.get(name, {})) for name in step.schema.names}
    return Lineage(columns, _decided(before, step.reads, "CONDITIONAL").decides, before.times)


def _enrich(step: Enrich, inputs: Inputs) -> Lineage:
    (before,) = inputs
    right = Lineage(
        {
            name: {Source("static", step.table.name, name): "IDENTITY"}
            for name in step.table.columns.names
        }
    )
    decided = _decided(before, step.keys, "JOIN").decides
    decided |= _decided(right, (other for _, other in step.on), "JOIN").decides
    return Lineage(_picked(step.columns, before, right), decided, before.times)


def _join(step: Join, inputs: Inputs) -> Lineage:
    left, right = inputs
    decided = _decided(left, step.left_keys, "JOIN").decides
    decided |= _decided(right, step.right_keys, "JOIN").decides
    columns = _picked(step.columns, left, right)
    times = _merged([left.times, right.times], "IDENTITY")
    found = Lineage(columns, decided, times)
    if step.condition is None:
        return found
    return _decided(found, columns_of(step.condition), "FILTER")


def _picked(picks: Iterable[Pick], left: Lineage, right: Lineage) -> dict[str, Origins]:
    return {
        pick.name: _merged(
            (
                side.columns[name]
                for side, name in ((left, pick.left), (right, pick.right))
                if name is not None
            ),
            "IDENTITY",
        )
        for pick in picks
    }


def _union(step: Union, inputs: Inputs) -> Lineage:
    columns = {
        name: _merged((item.columns[name] for item in inputs), "IDENTITY")
        for name in step.schema.names
    }
    decided = frozenset[tuple[Source, Why]]().union(*(item.decides for item in inputs))
    return Lineage(columns, decided, _merged((item.times for item in inputs), "IDENTITY"))


def _apply(step: Apply, inputs: Inputs) -> Lineage:
    (before,) = inputs
    if step.shape == "filter":
        return _decided(before, before.columns, "FILTER")
    everything = _merged(before.columns.values(), "TRANSFORMATION")
    return Lineage(dict.fromkeys(step.schema.names, everything), before.decides, before.times)


def _passing(step: Relation, inputs: Inputs) -> Lineage:
    """Give a step that passes columns on by their names; others it makes of all it sees."""
    (before,) = inputs
    everything = _merged(before.columns.values(), "TRANSFORMATION")
    times = _merged([before.times], "TRANSFORMATION")
    columns = {
        name: before.columns.get(name, times if name in _TIMES else everything)
        for name in step.schema.names
    }
    return Lineage(columns, before.decides, before.times)


def _decided(before: Lineage, names: Iterable[str], why: Why) -> Lineage:
    added = {(source, why) for name in names for source in before.columns.get(name, {})}
    return Lineage(before.columns, before.decides | added, before.times)


def _merged(parts: Iterable[Origins], how: How) -> Origins:
    """Bring origins together; what was done to a value before is not undone."""
    found: dict[Source, How] = {}
    for part in parts:
        for source, done in part.items():
            best = max((done, how, found.get(source, how)), key=_STRENGTH.__getitem__)
            found[source] = best
    return found


_STEPS: Mapping[type[Relation], Callable[[Any, Inputs], Lineage]] = {
    Stream: _stream,
    Project: _project,
    Aggregate: _aggregate,
    Match: _match,
    Enrich: _enrich,
    Join: _join,
    Union: _union,
    Apply: _apply,
    Filter: _filter,
    Expect: _filter,
    Retire: _filter,
    TopN: _top_n,
    Restamp: _restamp,
}
