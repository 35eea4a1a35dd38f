from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import ModelError
from penstock.front.dsl.patterns import match_step
from penstock.model.expr import Call, Column, Literal
from penstock.model.match import Match, Skip
from penstock.model.measure import Measure
from penstock.model.navigation import Navigation, navigation_of
from penstock.model.pattern import Pattern
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
)
from tests.front.dsl.shop import page_views

HERE = Path(__file__).name
A, B, C = ps.step("a"), ps.step("b"), ps.step("c", ps.col("price") > 1)
NODE_A, NODE_B = PatternStep("a"), PatternStep("b")
NODE_C = PatternStep("c", Call("gt", (Column("price"), Literal(1))))


@pytest.mark.parametrize(
    ("part", "node"),
    [
        (A.then(B), InOrder((NODE_A, NODE_B))),
        (A.then(B).then(C), InOrder((NODE_A, NODE_B, NODE_C))),
        (A.followed_by(B), InOrder((NODE_A, Gap(), NODE_B))),
        (A.followed_by_any(B), InOrder((NODE_A, Gap("any"), NODE_B))),
        (A.not_next(C).then(B), InOrder((NODE_A, NotNext(NODE_C), NODE_B))),
        (A.not_followed_by(C).followed_by(B), InOrder((NODE_A, Gap("others", (NODE_C,)), NODE_B))),
        (A.not_followed_by(C), InOrder((NODE_A, Absent(NODE_C)))),
        (A.times(3), Times(NODE_A, 3, 3)),
        (A.times(2, 4), Times(NODE_A, 2, 4)),
        (A.at_least(2), Times(NODE_A, 2)),
        (A.one_or_more(), Times(NODE_A, 1)),
        (A.zero_or_more().reluctant(), Times(NODE_A, 0, greedy=False)),
        (A.one_or_more().with_gaps(), Times(NODE_A, 1, apart=Gap())),
        (A.one_or_more().until("ok"), Times(NODE_A, 1, until=Column("ok"))),
        (A.optional(), Times(NODE_A, 0, 1)),
        (A | B | C, OneOf((NODE_A, NODE_B, NODE_C))),
        (A.hidden(), Hidden(NODE_A)),
        (ps.pattern(A), NODE_A),
        (ps.pattern(A.then(B), C), InOrder((InOrder((NODE_A, NODE_B)), NODE_C))),
        (ps.pattern(A, B).times(2), Times(InOrder((NODE_A, NODE_B)), 2, 2)),
    ],
)
def test_parts_are_put_together(part: ps.PatternPart, node: Part) -> None:
    assert part.node == node


def test_a_pattern_within_a_time_is_what_match_takes() -> None:
    assert A.within("1 minute") == Pattern(NODE_A, timedelta(minutes=1))
    grouped = page_views().group_by("userid")
    for given in (A, A.within("1 minute")):
        found = grouped.match(given, emit={"n": ps.matched("a")}).relation
        assert isinstance(found, Match)
        assert found.keys == ("userid",)
        assert found.schema.names == ("userid", "n")
        assert found.skip == Skip()


@pytest.mark.parametrize(
    ("value", "navigation"),
    [
        (ps.prev("price"), Navigation("last", (), Column("price"), back=1)),
        (ps.prev("price", 3), Navigation("last", (), Column("price"), back=3)),
        (ps.first("a", "price"), Navigation("first", ("a",), Column("price"))),
        (ps.last("a", "price", offset=1), Navigation("last", ("a",), Column("price"), 1)),
        (ps.last(("a", "b"), "price"), Navigation("last", ("a", "b"), Column("price"))),
        (ps.sum("a", "price"), Navigation("sum", ("a",), Column("price"))),
        (ps.avg("a", "price"), Navigation("avg", ("a",), Column("price"))),
        (ps.min("a", "price"), Navigation("min", ("a",), Column("price"))),
        (ps.max("a", "price"), Navigation("max", ("a",), Column("price"))),
        (ps.count("a", "price"), Navigation("count", ("a",), Column("price"))),
        (ps.collect_list("a", "price"), Navigation("collect_list", ("a",), Column("price"))),
        (ps.matched(), Navigation("count")),
        (ps.matched("a"), Navigation("count", ("a",))),
        (ps.classifier(), Navigation("classifier")),
        (ps.match_number(), Navigation("match_number")),
        (ps.final(ps.matched("a")), Navigation("count", ("a",), final=True)),
    ],
)
def test_rows_of_a_match_are_asked_for_values(value: ps.Expression, navigation: Navigation) -> None:
    assert navigation_of(value.node) == navigation


def test_with_one_argument_the_same_words_are_aggregates_of_a_group() -> None:
    measures = (
        ps.first("price", by="arrival"),
        ps.last("price"),
        ps.sum("price"),
        ps.avg(ps.col("price") * 2),
        ps.min("price"),
        ps.max("price"),
        ps.count(),
        ps.count("price"),
        ps.collect_list("price"),
    )
    assert all(isinstance(measure, Measure) for measure in measures)
    assert measures[0].setting("by") == "arrival"


def test_where_to_go_on_is_said_in_words() -> None:
    assert ps.skip_past_last_row() == Skip()
    assert ps.skip_to_next_row() == Skip("next row")
    assert ps.skip_to_first("a") == Skip("first", "a")
    assert ps.skip_to_last("a") == Skip("last", "a")


def refused(code: str) -> AbstractContextManager[object]:
    return pytest.raises(ModelError, match=rf"\[{code}\](.|\n)*{HERE}")


def test_what_has_no_meaning_is_refused_where_it_is_written() -> None:
    with refused("PATTERN_NEGATION"):
        A.not_followed_by(C).then(B)
    with refused("PATTERN_NEGATION"):
        A.not_next(B.then(C))
    with refused("PATTERN_TIMES"):
        A.reluctant()
    with refused("PATTERN_TIMES"):
        A.times(3, 1).within("1m")
    with refused("PATTERN_OWN_ROW"):
        ps.step("a", ps.col("price") > ps.last("a", "price"))
    with refused("PATTERN_STEP_NAME"):
        ps.sum(("a", "b"))  # type: ignore[call-overload]
    with refused("PATTERN_STEP_NAME"):
        ps.last(ps.col("price"), "price")  # type: ignore[call-overload]
    with refused("DURATION_FORMAT"):
        A.within("soon")
    with refused("PATTERN_WITHIN"):
        A.within("0s")


def test_a_match_that_has_no_meaning_is_refused_where_it_is_written() -> None:
    grouped = page_views().group_by("userid")
    with refused("PATTERN_ROWS"):
        grouped.match(A, rows="some")  # type: ignore[arg-type]
    with refused("STEP_ARGUMENT"):
        grouped.match("a b c")  # type: ignore[arg-type]
    with refused("PATTERN_EMPTY"):
        grouped.match(A.zero_or_more())
    with refused("STEP_ORDER"):
        grouped.window(ps.tumbling("1m")).match(A)
    with refused("PATTERN_CHANGELOG"):
        grouped.refine(ps.retracting()).count().group_by("userid").match(A)


def test_the_own_row_may_be_compared_with_the_one_before_it() -> None:
    step = ps.step("a", ps.col("price") > ps.last("a", "price", offset=1))
    assert isinstance(step.node, PatternStep)
    relation = page_views().relation
    assert match_step((relation, ()), A, {"n": ps.matched()}).keys == ()
