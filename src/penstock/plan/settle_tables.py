"""Changes of a table come together by its key before they are written as upserts."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.expr import Column
from penstock.model.physical import Stateful
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import Apply, Expect, Filter, Project, Rekey, Restamp


def settle_tables(program: Plan) -> Plan:
    """Put a step that settles changes before each upsert whose changes may be apart."""
    return replace(program, sinks=tuple(_settled(sink) for sink in program.sinks))


def _settled(sink: Sink) -> Sink:
    if not sink.upsert or _together(sink.relation, sink.keys):
        return sink
    return replace(sink, relation=Settle(sink.relation, sink.keys, sink.site))


def _together(relation: Relation, keys: tuple[str, ...]) -> bool:
    """Whether all rows of a key come from one bucket of one operator."""
    match relation:
        case Filter() | Expect() | Restamp() | Rekey() | Apply(shape="filter"):
            return _together(relation.inputs[0], keys)
        case Project(source, columns):
            # A key may have had another name.
            exprs = [it.expr for it in columns if it.name in keys]
            return _together(source, tuple(it.name for it in exprs if isinstance(it, Column)))
        case _ if isinstance(relation, Stateful):
            return _one_bucket(relation, keys)
        case _:
            return False


def _one_bucket(relation: Stateful, keys: tuple[str, ...]) -> bool:
    whole = len(relation.keys) == len(getattr(relation, "on", relation.keys))
    return whole and set(relation.keys) <= set(keys)
