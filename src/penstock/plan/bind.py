"""Topics take the formats that configuration binds them to, where the program says none."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.plan.rebuild import with_inputs
from penstock.schema.binding import Bindings, Bound

_UNBOUND = Bound()


_OF_RECORDS = {"_key", "value", "_timestamp", "_headers", "_partition", "_offset"}
"""Columns that every record of a topic of bytes has."""


def bind(program: Plan, bindings: Bindings) -> Plan:
    """Give a program whose streams and sinks have the formats of their topics."""
    if not bindings:
        return program
    done: dict[int, Relation] = {}
    for relation in program.walk():
        inputs = tuple(done[id(item)] for item in relation.inputs)
        done[id(relation)] = _bound_step(with_inputs(relation, inputs), bindings)
    sinks = (_bound_sink(sink, done[id(sink.relation)], bindings) for sink in program.sinks)
    return replace(program, sinks=tuple(sinks))


def _bound_step(relation: Relation, bindings: Bindings) -> Relation:
    if not isinstance(relation, Stream) or relation.files is not None:
        return relation
    bound = bindings.get(relation.topic, _UNBOUND)
    if relation.format is not None or bound.value is None or _raw(relation):
        return relation
    return replace(relation, format=bound.value, key_format=relation.key_format or bound.key)


def _raw(stream: Stream) -> bool:
    """Whether the program asks for bytes as they are."""
    known = {field.name: field.type.kind for field in stream.columns.fields}
    return known.get("value") == "bytes" and set(known) <= _OF_RECORDS


def _bound_sink(sink: Sink, relation: Relation, bindings: Bindings) -> Sink:
    bound = bindings.get(sink.topic, _UNBOUND)
    if sink.format is not None or sink.raw or sink.store is not None or bound.value is None:
        return replace(sink, relation=relation)
    key = sink.key_format or bound.key
    return replace(sink, relation=relation, format=bound.value, key_format=key)
