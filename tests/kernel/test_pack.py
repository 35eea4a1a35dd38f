from __future__ import annotations

import polars as pl
import pytest

from penstock.kernel.port import START_OF_TIME, State, Time
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.model.trigger import Always, Repeat, Trigger, WhenClosed
from penstock.model.window import Global, Hopping, Session, Tumbling, Window
from tests.kernel.bench import SCHEMA, SUM, ms

DISTINCT = Measure("different", "count_distinct", (Column("v"),))
COUNT = Measure("n", "count")


def operator(
    window: Window | None, trigger: Trigger | None = None, how: Refinement | None = None
) -> WindowedAggregate:
    relation = Aggregate(
        Stream("t", SCHEMA),
        ("k",),
        (COUNT, SUM, DISTINCT),
        window,
        trigger,
        how or Refinement(),
    )
    return WindowedAggregate(relation, 0)


def delta(*rows: tuple[str | None, int | None, int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(key, value, 1, time, time) for key, value, time in rows],
        schema={
            "k": pl.String,
            "v": pl.Int64,
            "_weight": pl.Int32,
            "_time": pl.Int64,
            "_taken": pl.Int64,
        },
        orient="row",
    )


WINDOWS = [
    (Tumbling(ms(10)), None),
    (Hopping(ms(20), ms(10)), None),
    (Hopping(ms(15), ms(10)), Repeat(Always())),
    (Session(ms(4)), None),
    (Session(Column("v")), None),
    (Global(), Repeat(Always())),
    (None, Repeat(Always())),
]
ROWS = (("a", 1, 1), ("b", 1, 2), ("a", 1, 4), (None, 5, 3), ("a", 3, 12), ("a", None, 13))


@pytest.mark.parametrize(("window", "trigger"), WINDOWS)
def test_packed_rows_give_what_rows_give(window: Window | None, trigger: Trigger | None) -> None:
    aggregate = operator(window, trigger)
    rows = delta(*ROWS)
    packed = aggregate.pack(rows, START_OF_TIME)
    assert packed.height < rows.height
    assert "_weight" not in packed.columns
    plain = aggregate.step(State(), rows, Time(100, 0))
    other = aggregate.step(State(), packed, Time(100, 0))
    order = ["_time", "k", "n"]
    assert other.output.sort(order).equals(plain.output.sort(order))
    assert other.counts == plain.counts


@pytest.mark.parametrize(("window", "trigger"), WINDOWS)
def test_parts_packed_apart_and_rows_may_come_in_one_delta(
    window: Window | None, trigger: Trigger | None
) -> None:
    aggregate = operator(window, trigger)
    parts = [
        aggregate.pack(delta(*ROWS[:2]), START_OF_TIME),
        delta(ROWS[2]),
        aggregate.pack(delta(*ROWS[3:]), START_OF_TIME),
    ]
    together = pl.concat(parts, how="diagonal_relaxed")
    plain = aggregate.step(State(), delta(*ROWS), Time(100, 0))
    other = aggregate.step(State(), together, Time(100, 0))
    order = ["_time", "k", "n"]
    assert other.output.sort(order).equals(plain.output.sort(order))
    assert other.counts == plain.counts


def test_late_rows_stay_rows() -> None:
    aggregate = operator(Tumbling(ms(10)))
    packed = aggregate.pack(delta(("a", 1, 1), ("a", 2, 11), ("a", 3, 12)), 10)
    assert packed.filter(pl.col("_packed").is_null())["v"].to_list() == [1]
    assert packed.height == 2


def test_rows_for_windows_that_may_be_finished_stay_rows() -> None:
    aggregate = operator(Tumbling(ms(10)), WhenClosed())
    packed = aggregate.pack(delta(("a", 1, 1), ("a", 2, 11), ("a", 3, 12)), 10)
    assert packed.filter(pl.col("_packed").is_null())["v"].to_list() == [1]


def test_rows_that_are_counted_or_go_by_the_clock_are_not_packed() -> None:
    rows = delta(*ROWS)
    for aggregate in (operator(None), operator(Tumbling(ms(10), domain="processing"))):
        assert aggregate.pack(rows, START_OF_TIME) is rows


def test_rows_that_are_all_late_are_left_alone() -> None:
    rows = delta(("a", 1, 1))
    assert operator(Tumbling(ms(10))).pack(rows, 10) is rows
    assert operator(Tumbling(ms(10))).pack(rows.clear(), 10).is_empty()


def test_a_packed_slice_that_is_late_after_all_is_counted() -> None:
    for window in (Tumbling(ms(10)), Hopping(ms(10), ms(5)), Session(ms(10))):
        aggregate = operator(window)
        packed = aggregate.pack(delta(("a", 1, 1), ("a", 2, 2)), START_OF_TIME)
        step = aggregate.step(State(time=Time(50, 0)), packed, Time(50, 0))
        assert (step.counts.taken, step.counts.late) == (2, 2)
        assert step.state.rows == 0


def test_a_slice_that_is_late_beside_one_of_two_windows_takes_nothing_of_it() -> None:
    aggregate = operator(Hopping(ms(20), ms(10)), Repeat(Always()))
    rows = (("a", 1, 1), ("b", 2, 51))
    packed = aggregate.pack(delta(*rows), START_OF_TIME)
    now = Time(50, 0)
    plain = aggregate.step(State(time=now), delta(*rows), now)
    other = aggregate.step(State(time=now), packed, now)
    assert other.output.drop("_taken").equals(plain.output.drop("_taken"))
    assert other.output["k"].to_list() == ["b", "b"]


@pytest.mark.parametrize(("window", "trigger"), WINDOWS)
def test_values_of_many_batches_are_counted_once(
    window: Window | None, trigger: Trigger | None
) -> None:
    aggregate = operator(window, trigger)
    plain, other = State(), State()
    for batch in range(4):
        rows = delta(*((f"k{n % 3}", n * batch % 50, n % 40) for n in range(60)), *ROWS)
        now = Time(START_OF_TIME if batch < 3 else 100, 0)
        one = aggregate.step(plain, rows, now)
        two = aggregate.step(other, aggregate.pack(rows, START_OF_TIME), now)
        order = ["_time", "k", "n", "total"]
        assert two.output.sort(order).equals(one.output.sort(order))
        assert two.counts == one.counts
        plain, other = one.state, two.state


def test_parts_with_numbers_of_different_sizes_come_together() -> None:
    aggregate = operator(None, Repeat(Always()))
    rows = [(("a", 1, 1), ("b", 2, 1)), (("a", 2**40, 2), ("a", 1, 2)), (("b", -300, 3),)]
    parts = [aggregate.pack(delta(*part), START_OF_TIME) for part in rows]
    step = aggregate.step(State(), pl.concat(parts, how="diagonal_relaxed"), Time(100, 0))
    assert step.output.sort("k")["different"].to_list() == [2, 2]
    plain = aggregate.step(State(), delta(*(row for part in rows for row in part)), Time(100, 0))
    for name, table in plain.state.tables.items():
        assert table.sort(table.columns).equals(
            step.state.tables[name].sort(table.columns), null_equal=True
        )
