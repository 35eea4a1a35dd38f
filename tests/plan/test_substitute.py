from __future__ import annotations

from penstock.model.expr import Column, Lambda, Literal, Resolved, Variable
from penstock.plan.lowering import _functions
from penstock.plan.substitute import substitute
from penstock.schema.types import BOOLEAN, INT32

ITEM = Variable("x", INT32)


def test_columns_are_replaced_inside_of_functions_and_lambdas() -> None:
    expr = Resolved("f", (Lambda((ITEM,), Resolved("add", (ITEM, Column("b")), INT32)),), BOOLEAN)
    found = substitute(expr, {"b": Literal(7)})
    inside = Resolved("add", (ITEM, Literal(7)), INT32)
    assert found == Resolved("f", (Lambda((ITEM,), inside),), BOOLEAN)


def test_functions_of_the_library_are_explained() -> None:
    expr = Resolved("f", (Lambda((ITEM,), Resolved("add", (ITEM, ITEM), INT32)),), BOOLEAN)
    lines = list(_functions((expr,)))
    assert lines[0] == "  sql f: polars, with ksqlDB's meaning"
    assert len(lines) == 2
