"""The form that the state of an operator is stored in, read off the program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Column, Expr
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.measure import Measure
from penstock.model.physical import Keyed, Stateful
from penstock.model.process import Process, StateField
from penstock.model.relation import Relation
from penstock.model.signature import expr_type
from penstock.model.state_form import (
    Columns,
    Fixed,
    StateForm,
    StoredArgument,
    StoredMeasure,
)
from penstock.model.top_n import TopN
from penstock.model.trigger_words import trigger_words
from penstock.model.window import Buffered, Sliding
from penstock.model.window_words import window_words
from penstock.model.words import measure_words
from penstock.plan.reads import reads
from penstock.plan.step_text import step_text
from penstock.plan.token import token
from penstock.plan.user_code import by_name
from penstock.schema.schema import Schema

ROWS, LEFT, RIGHT = "rows", "left", "right"
"""The rows that an operator keeps: of its one input, or of each of two."""
_LENGTH = 16


def state_form(keyed: Keyed) -> StateForm:
    """Give the form of an operator's state."""
    relation = keyed.relation
    kind, step = type(relation).__name__, step_text(relation)
    if isinstance(relation, Join):
        return _of_join(kind, step, relation)
    source = relation.source
    known = source.schema
    keys = _keys(relation, known)
    return StateForm(
        kind,
        step,
        _typed(known, keys),
        tuple(_fixed(relation)),
        ((ROWS, _typed(known, known.names)),) if _keeps_rows(relation) else (),
        tuple(map(_field, relation.state)) if isinstance(relation, Process) else (),
        _measures(relation) if isinstance(relation, Aggregate) else (),
        source.retracts,
    )


def _of_join(kind: str, step: str, relation: Join) -> StateForm:
    left, right = relation.left.schema, relation.right.schema
    pairs = [
        (f"{side}.{name}", known.field(name).type)
        for one, two in relation.on
        for side, name, known in ((LEFT, one, left), (RIGHT, two, right))
    ]
    bound = relation.bound
    if isinstance(bound, AsOf):
        bound = replace(bound, keep=timedelta(0))
    back = tuple(item.retracts for item in relation.inputs)
    return StateForm(
        kind,
        step,
        tuple(pairs),
        (
            _said("kind", relation.how, relation.how),
            _said("bound", step, bound),
            _said("eagerness", f"eager {relation.eager}", relation.eager),
            _said("condition", "another", relation.condition),
            _said("inputs", f"rows taken back {back}", back),
        ),
        ((LEFT, _typed(left, left.names)), (RIGHT, _typed(right, right.names))),
        retracts=any(back),
    )


def _keys(relation: Stateful, known: Schema) -> tuple[str, ...]:
    # Without a key rows are copies of one another where they are alike in all columns.
    return known.names if isinstance(relation, Dedup) and not relation.keys else relation.keys


def _fixed(relation: Stateful) -> Iterator[Fixed]:
    retracts = relation.inputs[0].retracts
    yield _said("input", "a changelog" if retracts else "rows that stay", retracts)
    match relation:
        case Aggregate():
            yield from _fixed_of_aggregate(relation)
        case Dedup(within=within):
            yield _said("time to look back", str(within), within)
        case TopN():
            yield from _fixed_of_top(relation)
        case Latest(order=order):
            yield _said("order", order, order)
        case Process(name=name, in_order=in_order):
            yield _said("name", name, name)
            yield _said("order", "by time" if in_order else "as rows arrive", in_order)
        case Match(pattern=pattern, skip=skip, source=source):
            yield _said("pattern", step_text(relation), (pattern, skip))
            yield _said("columns", str(source.schema), _typed(source.schema, source.schema.names))
        case _:
            return


def _fixed_of_top(relation: TopN) -> Iterator[Fixed]:
    by, n, descending = relation.by, relation.n, relation.descending
    words = f"{n} {'greatest' if descending else 'least'} {by}"
    yield _said("choice", words, (by, n, descending, _column_type(relation.source, by)))
    if relation.then or relation.ties:
        more = [(item, _column_type(relation.source, item.column)) for item in relation.then]
        yield _said("order", step_text(relation), (more, relation.ties))
    if relation.until is not None:
        yield _said("end", relation.until, relation.until)


def _fixed_of_aggregate(relation: Aggregate) -> Iterator[Fixed]:
    window = relation.window
    yield _said("window", "all time" if window is None else window_words(window), window)
    yield _said("trigger", trigger_words(relation.when), relation.when)
    how = (relation.refinement.mode, relation.refinement.stamp)
    yield _said("refinement", ", ".join(how), how)
    if isinstance(window, Buffered):
        read = reads(replace(relation, measures=())) - set(relation.keys)
        known = _typed(relation.source.schema, sorted(read))
        yield _said("columns of the window", str(known), known)


def _keeps_rows(relation: Stateful) -> bool:
    if isinstance(relation, Dedup):
        return relation.source.retracts
    if isinstance(relation, Aggregate):
        return isinstance(relation.window, Buffered | Sliding)
    if isinstance(relation, Process):
        return relation.in_order
    return not isinstance(relation, Match)


def _field(field: StateField) -> StateField:
    """Give what decides how a state is stored: neither its default nor its time to live does."""
    return StateField(field.name, field.holds, field.type, field.map_key, version=field.version)


def _measures(relation: Aggregate) -> tuple[StoredMeasure, ...]:
    known = relation.source.schema
    # Accumulators know a computed argument by its number, see `kernel.fold.argument`.
    computed: dict[Expr, str] = {}
    return tuple(_measure(item, known, computed) for item in relation.measures)


def _measure(measure: Measure, known: Schema, computed: dict[Expr, str]) -> StoredMeasure:
    arguments = tuple(_argument(item, known, computed) for item in measure.arguments)
    does = (measure.function, measure.settings, measure.user, measure.gives)
    marks = tuple(item.mark for item in arguments)
    words = measure_words(measure).partition(" = ")[2]
    mark = _mark((does, marks))
    return StoredMeasure(measure.name, measure.function, words, mark, arguments)


def _argument(expr: Expr, known: Schema, computed: dict[Expr, str]) -> StoredArgument:
    type_ = expr_type(expr, known, "")
    if isinstance(expr, Column):
        nullable = known.field(expr.name).nullable
        return StoredArgument(expr.name, _mark(expr), type_, nullable)
    column = computed.setdefault(expr, f"_x{len(computed)}")
    return StoredArgument(column, _mark(expr), type_, nullable=True)


def _typed(known: Schema, names: Iterable[str]) -> Columns:
    return tuple((name, known.field(name).type) for name in names)


def _column_type(source: Relation, name: str) -> str:
    return str(source.schema.field(name).type)


def _said(what: str, words: str, value: object) -> Fixed:
    return Fixed(what, words, _mark(value))


def _mark(value: object) -> str:
    text = json.dumps(token(value, by_name), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
