"""Columns that no step reads are not read from the log, nor carried along."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.enrich import Enrich
from penstock.model.expr import Column, columns_of
from penstock.model.join import Join, Pick
from penstock.model.join_bound import AsOf, Lasting, SameWindow
from penstock.model.match import Match
from penstock.model.physical import Stateful
from penstock.model.plan import Plan
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Named, Project, Union
from penstock.model.top_n import TopN
from penstock.model.versions import VALID_FROM, VALID_TO, versions_below
from penstock.model.window import Session
from penstock.plan.reads import reads
from penstock.plan.rebuild import with_inputs


def prune_columns(program: Plan) -> Plan:
    """Narrow every stream to the columns read after it; what is written stays the same.

    Late rows hold the columns that their step needs, and all there are where the user named a
    topic for them.
    """
    needs = _needs_of(program)
    done: dict[int, Relation] = {}
    for relation in program.walk():
        inputs = tuple(done[id(item)] for item in relation.inputs)
        done[id(relation)] = _narrowed(relation, inputs, needs)
    sinks = (
        replace(sink, relation=_exactly(done[id(sink.relation)], sink.relation.schema.names))
        for sink in program.sinks
    )
    return replace(program, sinks=tuple(sinks))


@dataclass(frozen=True, slots=True)
class _Needs:
    """Columns by a step's id: those asked of it by the steps after, those it asks an input for."""

    given: dict[int, frozenset[str]] = field(default_factory=dict)
    taken: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)

    def ask(self, relation: Relation, names: frozenset[str]) -> None:
        self.given[id(relation)] = self.given.get(id(relation), frozenset()) | names


def _needs_of(program: Plan) -> _Needs:
    needs = _Needs()
    whole = _with_whole_late_rows(program)
    for sink in program.sinks:
        needs.ask(sink.relation, frozenset(sink.relation.schema.names))
    for step in reversed(list(program.walk())):
        for port, item in enumerate(step.inputs):
            if id(step) in whole:
                taken = frozenset(item.schema.names)
            else:
                # Rows of no columns could not be counted: one stays.
                taken = _taken(step, needs.given[id(step)], port) or frozenset((_spare(item),))
            needs.taken[id(step), port] = taken
            needs.ask(item, taken)
    return needs


def _taken(step: Relation, given: frozenset[str], port: int) -> frozenset[str]:
    if isinstance(step, Project):
        return reads(replace(step, columns=_kept(step, given)))
    if isinstance(step, Enrich):
        return reads(replace(step, columns=_of_names(step.columns, given)))
    if isinstance(step, Join):
        return _joined(step, given, port)
    if isinstance(step, TopN):
        return reads(step) | (given - {step.number})
    makes_its_own = isinstance(step, Aggregate | Apply | Process | Match)
    return reads(step) if makes_its_own else reads(step) | given


def _joined(step: Join, given: frozenset[str], port: int) -> frozenset[str]:
    picked = _picked(step, given)
    names = {pick.left if port == 0 else pick.right for pick in picked}
    keys = step.left_keys if port == 0 else step.right_keys
    if port == 1 and isinstance(step.bound, AsOf) and versions_below(step.right) is not None:
        # A row that tells when it is valid is looked up by that.
        names |= {VALID_FROM, VALID_TO}
    if isinstance(step.bound, Lasting) and step.bound.side == ("left", "right")[port]:
        names.add(step.bound.column)
    return frozenset(name for name in names if name is not None).union(keys, _gap(step))


def _gap(step: Join) -> frozenset[str]:
    """Give the columns of both sides that say how long a session waits for the next row."""
    if isinstance(step.bound, SameWindow) and isinstance(step.bound.window, Session):
        gap = step.bound.window.gap
        return frozenset() if isinstance(gap, timedelta) else frozenset(columns_of(gap))
    return frozenset()


def _spare(source: Relation) -> str:
    if isinstance(source, Stream) and source.event_time is not None:
        return source.event_time
    return source.schema.names[0]


def _with_whole_late_rows(program: Plan) -> set[int]:
    """Give the ids of steps before a sink that names the topic of its late rows."""
    return {
        id(step)
        for sink in program.sinks
        if sink.late
        for step in sink.relation.walk()
        if isinstance(step, Stateful)
    }


def _narrowed(relation: Relation, inputs: tuple[Relation, ...], needs: _Needs) -> Relation:
    given = needs.given[id(relation)]
    match relation:
        case Stream():
            return _exactly(relation, _ordered(relation, given))
        case Project():
            kept = _kept(relation, given)
            if kept != relation.columns:
                return replace(relation, source=inputs[0], columns=kept)
        case Enrich(columns=columns):
            return replace(relation, source=inputs[0], columns=_of_names(columns, given))
        case Union():
            inputs = tuple(_exactly(item, _ordered(relation, given)) for item in inputs)
        case _ if isinstance(relation, Stateful):
            inputs = tuple(
                _exactly(new, _ordered(old, needs.taken[id(relation), port]))
                for port, (new, old) in enumerate(zip(inputs, relation.inputs, strict=True))
            )
            if isinstance(relation, TopN) and relation.number not in given:
                return replace(relation, source=inputs[0], number=None)
            if isinstance(relation, Join):
                return replace(
                    relation, left=inputs[0], right=inputs[1], columns=_picked(relation, given)
                )
        case _:
            pass
    return with_inputs(relation, inputs)


def _kept(project: Project, wanted: frozenset[str]) -> tuple[Named, ...]:
    return tuple(column for column in project.columns if column.name in wanted)


def _picked(join: Join, wanted: frozenset[str]) -> tuple[Pick, ...]:
    asked = wanted.union(() if join.condition is None else columns_of(join.condition))
    return _of_names(join.columns, asked)


def _of_names(columns: tuple[Pick, ...], asked: frozenset[str]) -> tuple[Pick, ...]:
    return tuple(pick for pick in columns if pick.name in asked) or columns[:1]


def _ordered(relation: Relation, wanted: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in relation.schema.names if name in wanted)


def _exactly(relation: Relation, names: tuple[str, ...]) -> Relation:
    if relation.schema.names == names:
        return relation
    site: str = getattr(relation, "site", "")
    return Project(relation, tuple(Named(name, Column(name)) for name in names), site=site)
