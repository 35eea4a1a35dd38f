from __future__ import annotations

import pytest

from penstock.model.expr import Expr
from penstock.model.signature import expr_type
from penstock.model.stateless import Expect, Filter
from penstock.plan.rules.fold_constants import fold, fold_constants
from penstock.schema.types import STRING
from tests.plan.programs import COLUMNS, a_stream, above, call, cast, col, lit, select

TRUE, FALSE, NULL = lit(value=True), lit(value=False), lit(None)
SOME = above("n", 1)


@pytest.mark.parametrize(
    ("expr", "folded"),
    [
        (call("add", lit(1), lit(2)), lit(3)),
        (call("subtract", lit(1), lit(2)), lit(-1)),
        (call("multiply", call("add", lit(1), lit(2)), lit(4)), lit(12)),
        (call("gt", lit(2), lit(1)), TRUE),
        (call("eq", lit("a"), lit("b")), FALSE),
        (call("not", TRUE), FALSE),
        (call("and", TRUE, SOME), SOME),
        (call("and", SOME, FALSE), FALSE),
        (call("and", TRUE, TRUE), TRUE),
        (call("or", SOME, TRUE), TRUE),
        (call("or", FALSE, SOME), SOME),
        (call("or", FALSE, FALSE), FALSE),
        (call("and", FALSE, NULL), FALSE),
        (cast(call("add", lit(1), lit(2)), STRING), cast(lit(3), STRING)),
        (call("add", col("n"), call("add", lit(1), lit(2))), call("add", col("n"), lit(3))),
    ],
)
def test_constants_are_computed_and_keep_their_type(expr: Expr, folded: Expr) -> None:
    assert repr(fold(expr, COLUMNS)) == repr(folded)
    assert expr_type(folded, COLUMNS) == expr_type(expr, COLUMNS)


@pytest.mark.parametrize(
    "expr",
    [
        call("add", lit(2**31 - 1), lit(1)),
        call("subtract", lit(2**40), lit(2**40)),
        call("add", lit(1.5), lit(2)),
        call("divide", lit(1), lit(0)),
        call("and", SOME, NULL),
        call("not", NULL),
        call("gt", lit(1), lit(1.0)),
        call("eq", TRUE, TRUE),
        call("lower", lit("A")),
        col("n"),
        lit(1),
    ],
)
def test_what_another_could_see_differently_is_left_alone(expr: Expr) -> None:
    assert fold(expr, COLUMNS) is expr


def test_filters_expectations_and_projections_are_folded() -> None:
    stream = a_stream()
    condition = call("and", TRUE, SOME)
    assert fold_constants(Filter(stream, condition)) == Filter(stream, SOME)
    assert fold_constants(Expect(stream, "e", condition)) == Expect(stream, "e", SOME)
    folded = fold_constants(select(stream, "n", three=call("add", lit(1), lit(2))))
    assert folded == select(stream, "n", three=lit(3))


def test_steps_without_constants_are_the_same_objects() -> None:
    for step in (
        Filter(a_stream(), SOME),
        Expect(a_stream(), "e", SOME),
        select(a_stream(), "n", m=call("add", col("n"), lit(1))),
        a_stream(),
    ):
        assert fold_constants(step) is step
