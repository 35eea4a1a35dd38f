from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.model.expr import Call, Column, Expr
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import Bound, Interval, SameWindow
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.stateless import Filter
from penstock.model.window import Session
from penstock.plan.rules.filter_before_join import filter_before_join
from tests.plan.programs import a_stream, above

SECOND = timedelta(seconds=1)
CLOSE = Interval(SECOND, SECOND)
LEFT, RIGHT = a_stream("left"), a_stream("right")


def joined(
    how: How = "inner", bound: Bound = CLOSE, left: Relation = LEFT, right: Relation = RIGHT
) -> Join:
    of_left = (Pick("key", left="n"), Pick("m", left="n"))
    picks = of_left if how == "semi" else (*of_left, Pick("other", right="n"))
    return Join(left, right, (("n", "n"),), how, bound, picks)


def program(*relations: Relation) -> Plan:
    return Plan("p", tuple(Sink(it, f"out-{place}") for place, it in enumerate(relations)))


def both(one: Expr, other: Expr) -> Expr:
    return Call("and", (one, other))


def test_each_side_is_filtered_by_what_is_asked_of_its_rows() -> None:
    asked = both(above("m", 1), above("other", 2))
    sides = joined(left=Filter(LEFT, above("n", 1)), right=Filter(RIGHT, above("n", 2)))
    wanted = program(Filter(sides, asked))
    assert filter_before_join(program(Filter(joined(), asked))) == wanted


def test_rows_that_are_alone_are_filtered_on_their_own_side() -> None:
    wanted = program(Filter(joined("semi", left=Filter(LEFT, above("n", 1))), above("m", 1)))
    assert filter_before_join(program(Filter(joined("semi"), above("m", 1)))) == wanted


@pytest.mark.parametrize(
    "relation",
    [
        Filter(joined(), Call("gt", (Column("m"), Column("other")))),
        Filter(joined("left"), above("other", 2)),
        Filter(joined("full"), above("m", 2)),
        Filter(joined(bound=SameWindow(Session(SECOND))), above("m", 2)),
        Filter(LEFT, above("n", 1)),
    ],
)
def test_what_depends_on_more_than_one_row_stays(relation: Relation) -> None:
    whole = program(relation)
    assert filter_before_join(whole) is whole


def test_a_join_that_another_step_reads_is_left_as_it_is() -> None:
    shared = joined()
    whole = program(Filter(shared, above("m", 1)), shared)
    assert filter_before_join(whole) is whole
