"""Sums of exact numbers: one with more digits than its type has ends the query, as in ksqlDB."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.model.expr import Call, Column, Resolved
from penstock.model.measure import Measure
from penstock.model.relation import Relation
from penstock.model.signature import expr_type
from penstock.model.stateless import Expect
from penstock.schema.schema import Schema
from penstock.schema.types import Kind


def sums_fit(relation: Relation, measures: Sequence[Measure], rows: Schema) -> Relation:
    """Give results whose sums fit the type of what was summed up; another ends the query."""
    for measure in measures:
        if measure.function != "sum":
            continue
        type_ = expr_type(measure.arguments[0], rows)
        if type_.kind is not Kind.DECIMAL:
            continue
        found = Column(measure.name)
        whole = Call("is_not_null", (Resolved("cast", (found,), type_),))
        fits = Call("or", (Call("is_null", (found,)), whole))
        relation = Expect(relation, f"a sum fits {type_}", fits, "fail", site=measure.site)
    return relation
