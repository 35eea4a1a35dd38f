"""Equal steps become one step, so that what is written twice is computed and kept once."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.plan.rebuild import with_inputs
from penstock.plan.token import Token, field_tokens

_INPUTS = ("source", "sources", "left", "right")


def share(program: Plan) -> Plan:
    """Give the program with every two equal steps on equal inputs replaced by one object."""
    return Sharing().of(program)


class Sharing:
    """The steps met so far, by what they mean: kept for all looks at a program and its rewrites."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Relation, Relation]] = {}
        self._known: dict[Token, Relation] = {}

    def of(self, program: Plan) -> Plan:
        """Do what `share` does, knowing the steps of the programs before."""
        sinks = tuple(replace(sink, relation=self._one(sink.relation)) for sink in program.sinks)
        return replace(program, sinks=sinks)

    def _one(self, relation: Relation) -> Relation:
        """Give the one step that stands for all equal to this one."""
        # The step itself is kept beside its answer: an id may be given again once it is gone.
        known = self._done.get(id(relation))
        if known is not None:
            return known[1]
        inputs = tuple(self._one(item) for item in relation.inputs)
        own = tuple(field_tokens(relation, _by_identity, without=_INPUTS))
        meaning = (type(relation).__qualname__, own, tuple(id(item) for item in inputs))
        found = self._known.setdefault(meaning, with_inputs(relation, inputs))
        for step in (relation, found):
            self._done[id(step)] = (step, found)
        return found


def _by_identity(value: object) -> Token:
    return ("object", str(id(value)))
