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
    shared = _Shared()
    sinks = tuple(replace(sink, relation=shared.one(sink.relation)) for sink in program.sinks)
    return replace(program, sinks=sinks)


class _Shared:
    """The steps met so far, by what they mean."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Relation, Relation]] = {}
        self._known: dict[Token, Relation] = {}

    def one(self, relation: Relation) -> Relation:
        """Give the one step that stands for all equal to this one."""
        # The step itself is kept beside its answer: an id may be given again once it is gone.
        known = self._done.get(id(relation))
        if known is not None:
            return known[1]
        inputs = tuple(self.one(item) for item in relation.inputs)
        own = tuple(field_tokens(relation, _by_identity, without=_INPUTS))
        meaning = (type(relation).__qualname__, own, tuple(id(item) for item in inputs))
        found = self._known.setdefault(meaning, with_inputs(relation, inputs))
        self._done[id(relation)] = (relation, found)
        return found


def _by_identity(value: object) -> Token:
    return ("object", str(id(value)))
