"""Programs changed for a test: rows that tell the watermark, results that tell their pane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.kernel.port import WEIGHT
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Named, Project
from penstock.model.watermark import Punctuated
from penstock.plan.rebuild import with_inputs
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64

TOLD = "told_watermark"
"""The column of rows that carry nothing but a watermark."""


def streams_of(program: Plan) -> tuple[Stream, ...]:
    """Give the streams that a program reads."""
    return tuple(step for step in program.walk() if isinstance(step, Stream))


def stored_schema(stream: Stream) -> Schema:
    """Give the columns of a stream's topic: a changelog has a weight as well."""
    if stream.changelog and WEIGHT not in stream.columns.names:
        return stream.columns.with_fields([Field(WEIGHT, INT32)])
    return stream.columns


def told_by_rows(program: Plan) -> Plan:
    """Give the program with watermarks that only rows of their own move."""

    def told(stream: Relation) -> Relation:
        if not isinstance(stream, Stream):
            return stream
        says = Punctuated(
            TOLD, Call("is_not_null", (Column(TOLD),)), None, stream.watermark.max_ahead
        )
        columns = stream.columns.with_fields([Field(TOLD, INT64)])
        wider = replace(stream, columns=columns, watermark=says)
        return Project(wider, tuple(Named(name, Column(name)) for name in stream.columns.names))

    return _changed(program, told)


def with_panes(program: Plan) -> Plan:
    """Give the program with results that tell which pane they are, where outputs take them."""

    def shown(relation: Relation) -> Relation:
        match relation:
            case Filter(source=source):
                return replace(relation, source=shown(source))
            case Aggregate():
                return replace(relation, panes=True)
            case _:
                return relation

    sinks = tuple(replace(sink, relation=shown(sink.relation)) for sink in program.sinks)
    return replace(program, sinks=sinks)


def _changed(program: Plan, change: Callable[[Relation], Relation]) -> Plan:
    """Give the program with every step changed; a step that is shared stays so."""
    done: dict[int, Relation] = {}
    for relation in program.walk():
        inputs = tuple(done[id(item)] for item in relation.inputs)
        same = with_inputs(relation, inputs) if inputs else relation
        done[id(relation)] = change(same)
    sinks = tuple(replace(sink, relation=done[id(sink.relation)]) for sink in program.sinks)
    return replace(program, sinks=sinks)
