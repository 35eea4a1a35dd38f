from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from penstock.errors import ModelError
from penstock.kernel.as_of import AsOfOperator
from penstock.kernel.port import END_OF_TIME, State, Time
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import AsOf
from penstock.model.join_check import check_join
from penstock.model.latest import Latest
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.versions import Versions
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64
from tests.kernel.lookups import (
    AT_ONCE,
    CORRECTED,
    MILLISECOND,
    PICKS,
    RATES,
    WAITING,
    Run,
    a_join,
    frame,
    order,
    orders,
    rate,
    rates,
)

ARRIVAL = AsOf()


def a_run(bound: AsOf, how: How = "inner", **sides: Any) -> Run:  # noqa: ANN401
    return Run(AsOfOperator(a_join(bound, how, **sides)))


def test_by_arrival_a_row_meets_what_is_known_and_updates_alone_give_nothing() -> None:
    run = a_run(ARRIVAL)
    assert run(order("a", 1)) == []
    assert run(rate("a", 10)) == []
    assert run(order("a", 2), order("b", 3)) == [(1, 2, 10)]
    assert run.step.counts.filtered == 1
    assert run(rate("a", 20)) == []
    assert run(order("a", 4)) == [(1, 4, 20)]
    assert run(rate("a", None, w=-1)) == []
    assert run(order("a", 5)) == []
    assert run.state.rows == 0


def test_by_arrival_rows_of_a_batch_are_taken_as_the_log_took_them() -> None:
    run = a_run(ARRIVAL, "left")
    run(rate("a", 10, taken=0))
    given = run(
        order("a", 1, taken=1),
        order("a", 3, taken=3),
        order("a", 5, taken=5),
        order("a", 7, taken=7),
        order("b", 8, taken=8),
        rate("a", 30, taken=3),
        rate("a", None, taken=5, w=-1),
        rate("a", 60, taken=6),
        rate("b", 90, taken=9),
    )
    assert given == [(1, 1, 10), (1, 3, 30), (1, 5, None), (1, 7, 60), (1, 8, None)]
    assert run(order("b", 9, taken=9)) == [(1, 9, 90)]


@pytest.mark.parametrize("taken", [(1, 5), (5, 1), (3, 3)])
def test_by_arrival_a_batch_taken_apart_gives_the_same(taken: tuple[int, int]) -> None:
    of_order, of_rate = taken
    rows = [order("a", 1, taken=of_order), rate("a", 20, taken=of_rate)]
    whole, apart = a_run(ARRIVAL), a_run(ARRIVAL)
    before = rate("a", 10, taken=0)
    whole(before)
    apart(before)
    inwards = sorted(rows, key=lambda row: (row["taken"], "amount" in row))
    assert whole(*rows) == [row for item in inwards for row in apart(item)]


def test_by_arrival_the_results_of_an_operator_come_before_the_rows_of_their_batch() -> None:
    table = Aggregate(
        rates(), ("key",), (Measure("rate", "count"),), refinement=Refinement("retracting")
    )
    run = a_run(ARRIVAL, right=table)
    assert run(order("a", 1, taken=1), rate("a", 1, taken=900)) == [(1, 1, 1)]
    changed = (rate("a", 2, taken=999), rate("a", 1, w=-1, taken=900))
    assert run(order("a", 2, taken=2), *changed) == [(1, 2, 2)]
    assert run(rate("a", 2, w=-1), order("a", 3)) == []


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(1, 1, 10)]),
        ("left", [(1, 1, 10), (1, 2, None), (1, 3, None)]),
        ("semi", [(1, 1)]),
        ("anti", [(1, 2), (1, 3)]),
    ],
)
@pytest.mark.parametrize("bound", [ARRIVAL, AT_ONCE])
def test_rows_without_a_partner_and_without_a_key(how: How, expected: Any, bound: AsOf) -> None:  # noqa: ANN401
    run = a_run(bound, how)
    rows = [rate("a", 10), rate(None, 30), order("a", 1), order("b", 2), order(None, 3)]
    assert sorted(run(*rows)) == expected
    assert run.state.rows == 1


def test_an_order_keeps_its_own_times() -> None:
    run = a_run(ARRIVAL)
    run(rate("a", 10, t=70, taken=1))
    run(order("a", 1, t=5, taken=6))
    assert run.step.output.select("_time", "_taken").rows() == [(5, 6)]


def test_nothing_new_leaves_the_state_as_it_is() -> None:
    for bound in (ARRIVAL, WAITING):
        run = a_run(bound)
        run(rate("a", 10), order("a", 1, t=9))
        before = run.state.tables
        run()
        assert run.state.tables == before
        assert all(run.state.tables[name] is before[name] for name in before)


def test_by_event_time_a_row_meets_the_version_of_its_time() -> None:
    run = a_run(AT_ONCE, "left")
    run(rate("a", 10, t=10), rate("a", 30, t=30), rate("a", None, t=40, w=-1))
    times = (9, 10, 29, 30, 39, 40)
    given = run(*(order("a", t, t=t) for t in times))
    assert given == [
        (1, 9, None),
        (1, 10, 10),
        (1, 29, 10),
        (1, 30, 30),
        (1, 39, 30),
        (1, 40, None),
    ]
    run(rate("a", 20, t=20), rate("a", 35, t=35))
    given = run(*(order("a", t, t=t) for t in (19, 20, 34, 35, 40)))
    assert given == [(1, 19, 10), (1, 20, 20), (1, 34, 30), (1, 35, 35), (1, 40, None)]


def test_of_two_versions_with_one_time_the_last_counts() -> None:
    run = a_run(AT_ONCE)
    run(rate("a", 10, t=5), rate("a", 11, t=5))
    assert run(order("a", 1, t=5)) == [(1, 1, 11)]
    run(rate("a", 12, t=5))
    assert run(order("a", 2, t=6)) == [(1, 2, 12)]


def test_a_row_that_waits_is_answered_when_the_watermark_has_passed_it() -> None:
    run = a_run(WAITING, "left")
    assert run(order("a", 3, t=3), order("a", 5, t=5), order(None, 9, t=9)) == [(1, 9, None)]
    assert run(rate("a", 10, t=4), watermark=3) == []
    assert run(rate("a", 20, t=3), watermark=4) == [(1, 3, 20)]
    assert run(watermark=5) == []
    assert run(watermark=6) == [(1, 5, 10)]
    assert sorted(run.state.tables) == ["versions"]


def test_rows_that_waited_come_in_the_order_of_their_times() -> None:
    run = a_run(WAITING, "left")
    run(order("a", 5, t=5), order("b", 1, t=1))
    assert run(order("c", 3, t=3), watermark=9) == [(1, 1, None), (1, 3, None), (1, 5, None)]


def test_a_row_behind_the_watermark_is_answered_at_once_or_late() -> None:
    run = a_run(replace(WAITING, keep=5 * MILLISECOND), "left")
    run(rate("a", 10, t=1), rate("a", 20, t=8), watermark=10)
    assert run(order("a", 7, t=7), order("a", 5, t=5), order("a", 4, t=4)) == [
        (1, 5, 10),
        (1, 7, 10),
    ]
    assert run.step.late is not None
    assert run.step.late.select("amount", "_time").rows() == [(4, 4)]
    assert "behind the watermark" in run.step.late["_reason"][0]
    assert run.step.counts.late == 1


def test_versions_leave_once_no_row_can_ask_for_them() -> None:
    run = a_run(replace(AT_ONCE, keep=5 * MILLISECOND))
    run(rate("a", 10, t=1), rate("a", 20, t=8), rate("a", None, t=9, w=-1), rate("b", 1, t=0))
    run(watermark=12)
    assert run.state.tables["versions"].height == 4
    run(watermark=13)
    assert run.state.tables["versions"].height == 3
    run(watermark=14)
    assert run.state.tables["versions"].height == 2
    run(watermark=15)
    assert run.state.tables["versions"]["key"].to_list() == ["b"]
    run(watermark=END_OF_TIME)
    assert run.state.tables["versions"]["key"].to_list() == ["b"]


def test_a_version_that_ended_long_ago_is_late_and_one_that_did_not_is_taken() -> None:
    run = a_run(AT_ONCE)
    run(rate("a", 20, t=8), watermark=10)
    run(rate("a", 10, t=2), rate("b", 5, t=1))
    assert run.step.late_right is not None
    assert run.step.late_right.select("key", "rate").rows() == [("a", 10)]
    assert run.step.counts.late == 1
    assert run(order("b", 1, t=11)) == [(1, 1, 5)]


def test_corrected_an_answer_is_taken_back_when_a_version_comes_that_it_should_have_met() -> None:
    run = a_run(replace(CORRECTED, keep=9 * MILLISECOND), "left")
    assert run(order("a", 5, t=5), order("a", 2, t=2)) == [(1, 5, None), (1, 2, None)]
    assert run(rate("a", 30, t=3)) == [(-1, 5, None), (1, 5, 30)]
    assert run(rate("a", 10, t=1)) == [(-1, 2, None), (1, 2, 10)]
    assert run(rate("a", 40, t=4)) == [(-1, 5, 30), (1, 5, 40)]
    assert run(rate("a", None, t=5, w=-1)) == [(-1, 5, 40), (1, 5, None)]
    assert run(rate("a", 40, t=4)) == []
    assert run(watermark=14) == []
    assert run.state.tables["open"]["amount"].to_list() == [5]
    assert run(rate("a", 20, t=2), watermark=15) == []
    assert "open" not in run.state.tables


def test_corrected_rows_may_wait_too() -> None:
    run = a_run(AsOf("event time", wait=True, corrected=True, keep=9 * MILLISECOND), "left")
    assert run(order("a", 5, t=5), rate("a", 10, t=1)) == []
    assert run(rate("a", 20, t=2)) == []
    assert run(watermark=6) == [(1, 5, 20)]
    assert run(rate("a", 30, t=3)) == [(-1, 5, 20), (1, 5, 30)]


def test_a_full_lookup_gives_versions_that_nobody_met() -> None:
    run = a_run(replace(CORRECTED, keep=100 * MILLISECOND), "full")
    assert run(order("a", 2, t=2)) == [(1, 2, None)]
    assert run(rate("a", 10, t=1)) == [(-1, 2, None), (1, 2, 10)]
    assert run(rate("a", 60, t=6)) == [(1, None, 60)]
    assert run.step.output["key"].to_list() == ["a"]
    assert run(order("a", 8, t=8)) == [(-1, None, 60), (1, 8, 60)]
    assert run(rate("a", 20, t=2)) == [(-1, 2, 10), (1, 2, 20), (1, None, 10)]
    assert run(rate(None, 5, t=2)) == [(1, None, 5)]


def test_a_version_once_met_does_not_come_alone_when_the_row_is_forgotten() -> None:
    run = a_run(CORRECTED, "right")
    run(rate("a", 10, t=1), order("a", 2, t=2))
    assert run(watermark=50) == []
    assert run(order("a", 60, t=60)) == [(1, 60, 10)]
    assert run(rate("a", 70, t=70)) == [(1, None, 70)]
    assert run(rate("a", None, t=80, w=-1), watermark=100) == []
    assert run.state.rows == 0


def test_versions_may_tell_when_they_are_valid() -> None:
    table = Versions(rates(), ("key",))
    picks = (*PICKS, Pick("valid_to", None, "valid_to"))
    join = a_join(replace(CORRECTED, keep=timedelta(1)), "left", right=table, columns=picks)
    check_join(join)
    operator, state = AsOfOperator(join), State()

    def step(left: list[Any], right: list[Any]) -> list[Any]:
        nonlocal state
        told = frame(right, RATES).with_columns(
            pl.col("_time").cast(pl.Datetime("ms", "UTC")).alias("valid_from"),
            pl.Series("valid_to", [row.get("to") for row in right], pl.Int64).cast(
                pl.Datetime("ms", "UTC")
            ),
        )
        left_rows = frame(left, join.left.schema)
        done = operator.step(state, (left_rows, told), Time())
        state = done.state
        shown = pl.col("valid_to").dt.epoch("ms")
        return done.output.select("_weight", "amount", "rate", shown).rows()

    assert step([order("a", 5, t=5)], [rate("a", 10, t=1)]) == [(1, 5, 10, None)]
    closed = [rate("a", 10, t=1, w=-1), rate("a", 10, t=1, to=8)]
    assert step([], closed) == [(-1, 5, 10, None), (1, 5, 10, 8)]
    assert step([order("a", 9, t=9)], []) == [(1, 9, None, None)]


@pytest.mark.parametrize("bound", [ARRIVAL, AT_ONCE, WAITING, CORRECTED])
def test_a_left_row_taken_back_takes_back_what_was_given(bound: AsOf) -> None:
    run = a_run(bound, "left", left=orders(changelog=True))
    given = run(rate("a", 10, t=1), order("a", 5, t=5), order("b", 6, t=5), watermark=9)
    assert given == [(1, 5, 10), (1, 6, None)]
    run(rate("a", 20, t=2), watermark=20)
    back = run(order("a", 5, t=5, w=-1), order("b", 6, t=5, w=-1), watermark=30)
    assert back == [(-1, 5, 10), (-1, 6, None)]
    assert sorted(run.state.tables) in (["table"], ["versions"])


@pytest.mark.parametrize("bound", [ARRIVAL, AT_ONCE, WAITING, CORRECTED])
def test_a_row_given_and_taken_back_in_one_batch_gives_nothing(bound: AsOf) -> None:
    run = a_run(bound, "left", left=orders(changelog=True))
    assert run(order("a", 5, t=5), order("a", 5, t=5, w=-1), watermark=9) == []
    assert run.state.rows == 0


def test_a_waiting_row_that_is_taken_back_is_never_answered() -> None:
    run = a_run(WAITING, "left", left=orders(changelog=True))
    assert run(order("a", 5, t=5), order("a", 5, t=5)) == []
    assert run(order("a", 5, t=5, w=-1)) == []
    assert run(watermark=9) == [(1, 5, None)]
    assert run(order("a", 5, t=5, w=-1)) == [(-1, 5, None)]
    assert run.state.rows == 0


def test_a_corrected_row_is_taken_back_as_it_was_last_given() -> None:
    keep = replace(CORRECTED, keep=100 * MILLISECOND)
    run = a_run(keep, "left", left=orders(changelog=True))
    run(order("a", 5, t=5))
    assert run(rate("a", 10, t=1)) == [(-1, 5, None), (1, 5, 10)]
    assert run(order("a", 5, t=5, w=-1)) == [(-1, 5, 10)]
    assert run(rate("a", 20, t=2)) == []


def test_what_takes_back_a_late_row_leaves_nothing_behind() -> None:
    run = a_run(AT_ONCE, "left", left=orders(changelog=True))
    run(watermark=10)
    assert run(order("a", 5, t=5)) == []
    assert run.step.counts.late == 1
    assert run(order("a", 5, t=5, w=-1)) == []
    assert run.state.rows == 0


def test_a_changelog_says_when_versions_end() -> None:
    run = a_run(AT_ONCE, "left", right=rates(changelog=True))
    # As an operator gives it: what is taken back has its own time.
    run(rate("a", 10, t=1))
    run(rate("a", 10, t=1, w=-1), rate("a", 40, t=4))
    assert run(order("a", 3, t=3), order("a", 5, t=5)) == [(1, 3, 10), (1, 5, 40)]
    # As a log gives it: what is taken back has the time of that.
    run(rate("a", 40, t=7, w=-1), rate("a", 80, t=8))
    given = run(order("a", 6, t=6), order("a", 7, t=7), order("a", 8, t=8))
    assert given == [(1, 6, 40), (1, 7, None), (1, 8, 80)]
    # Replaced by an older row, it was never valid.
    run(rate("a", 80, t=8, w=-1), rate("a", 77, t=7))
    assert run(order("a", 9, t=9)) == [(1, 9, 77)]
    run(rate("a", 77, t=7, w=-1))
    assert run(order("a", 9, t=9)) == [(1, 9, None)]


def test_a_pair_must_fulfil_the_condition() -> None:
    condition = Call("gt", (Column("rate"), Literal(10)))
    for bound in (ARRIVAL, AT_ONCE):
        run = Run(AsOfOperator(replace(a_join(bound, "left"), condition=condition)))
        given = run(rate("a", 10), rate("b", 11), order("a", 1), order("b", 2))
        assert given == [(1, 1, None), (1, 2, 11)]


def test_keys_of_whole_numbers_are_compared_whatever_their_size() -> None:
    left = replace(orders(), columns=Schema((Field("key", INT32), Field("amount", INT64))))
    right = replace(rates(), columns=Schema((Field("key", INT64), Field("rate", INT64))))
    for bound in (ARRIVAL, AT_ONCE):
        join = Join(left, right, (("key", "key"),), "inner", bound, PICKS)
        deltas = (
            frame([{"key": 7, "amount": 1}], left.columns),
            frame([{"key": 7, "rate": 2}], right.columns),
        )
        step = AsOfOperator(join).step(State(), deltas, Time())
        assert step.output.select("key", "amount", "rate").rows() == [(7, 1, 2)]
        assert step.output.schema["key"] == pl.Int64


def test_a_step_without_a_time_meets_nothing() -> None:
    run = a_run(AT_ONCE, "left")
    assert run(rate("a", 10, t=None), rate("a", 20, t=1), order("a", 1, t=None)) == [(1, 1, None)]
    assert run.step.counts.filtered == 1


def test_the_buckets_of_both_sides_are_decided_by_their_keys() -> None:
    operator = AsOfOperator(a_join(ARRIVAL))
    assert operator.ports == (("key",), ("key",))
    rows = frame([order("a", 1)], orders().columns)
    assert operator.pack(rows, 0, 0) is rows


@pytest.mark.parametrize("how", ["right", "full"])
def test_rows_that_nobody_met_are_not_given_where_that_is_never_certain(how: How) -> None:
    table = Latest(rates(), ("key",))
    for bound in (ARRIVAL, AT_ONCE, WAITING):
        with pytest.raises(ModelError, match="JOIN_LOOKUP_HOW") as refused:
            check_join(a_join(bound, how, right=table))
        assert "result is not corrected" in refused.value.fact
    with pytest.raises(ModelError, match="left side takes rows back"):
        check_join(a_join(CORRECTED, how, left=orders(changelog=True), right=table))
    check_join(a_join(CORRECTED, how, right=table))


def test_versions_are_looked_up_by_event_time_only() -> None:
    with pytest.raises(ModelError, match="JOIN_LOOKUP"):
        check_join(a_join(ARRIVAL, right=Versions(Latest(rates(), ("key",)), ("key",))))
