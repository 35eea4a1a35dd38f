from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.assign import Assignable, assign
from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.model.expr import Column
from penstock.model.window import Custom, Global, Hopping, Session, Tumbling
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

SCHEMA = Schema((Field("n", INT64),))


def span(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


def rows(*times: int | None) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "n": list(range(len(times))),
            "_weight": [1] * len(times),
            "_time": times,
            "_taken": [None if time is None else time + 1000 for time in times],
        },
        schema={"n": pl.Int64, "_weight": pl.Int32, "_time": pl.Int64, "_taken": pl.Int64},
    )


def windows(window: Assignable, *times: int | None, clock: int = 0) -> list[tuple[int, int, int]]:
    frame = assign(rows(*times), window, SCHEMA, clock)
    return frame.select("n", "_start", "_end").rows()


def test_tumbling_windows_lie_side_by_side_before_and_after_zero() -> None:
    found = windows(Tumbling(span(10)), -11, -10, -1, 0, 9, 10)
    assert [start for _, start, _ in found] == [-20, -10, -10, 0, 0, 10]
    assert all(end - start == 10 for _, start, end in found)


@pytest.mark.parametrize(("offset", "starts"), [(3, [-7, 3, 3]), (-3, [-3, -3, 7])])
def test_an_offset_moves_windows(offset: int, starts: list[int]) -> None:
    found = windows(Tumbling(span(10), span(offset)), 2, 3, 7)
    expected = [
        start if start <= time else start - 10
        for start, time in zip(starts, (2, 3, 7), strict=True)
    ]
    assert [start for _, start, _ in found] == expected


def test_a_row_belongs_to_every_hopping_window_that_holds_its_time() -> None:
    found = windows(Hopping(span(10), span(4)), 5, -1)
    assert found == [(0, -4, 6), (0, 0, 10), (0, 4, 14), (1, -8, 2), (1, -4, 6)]


def test_rows_between_windows_belong_to_none() -> None:
    assert windows(Hopping(span(2), span(5), gaps=True), 0, 1, 2, 4, 5) == [
        (0, 0, 2),
        (1, 0, 2),
        (4, 5, 7),
    ]


def test_a_session_begins_with_its_row_and_lasts_a_gap() -> None:
    assert windows(Session(span(7)), 3) == [(0, 3, 10)]


def test_a_gap_of_the_rows_own_may_be_nothing_and_is_never_negative() -> None:
    gap = Session(Column("n"))
    assert windows(gap, 5, 5, 5) == [(0, 5, 5), (1, 5, 6), (2, 5, 7)]


def test_the_global_window_holds_all_time() -> None:
    assert windows(Global(), 5, None) == [
        (0, START_OF_TIME, END_OF_TIME),
        (1, START_OF_TIME, END_OF_TIME),
    ]


@pytest.mark.parametrize(
    "window", [Tumbling(span(10)), Hopping(span(10), span(5)), Session(span(1))]
)
def test_a_row_without_a_time_belongs_to_no_window(window: Assignable) -> None:
    assert {row for row, _, _ in windows(window, None, 3, None)} == {1}


def test_the_clock_or_the_log_may_tell_the_time() -> None:
    by_clock = Tumbling(span(10), domain="processing")
    assert windows(by_clock, 1, None, clock=25) == [(0, 20, 30), (1, 20, 30)]
    assert windows(Hopping(span(10), span(5), domain="processing"), 1, clock=25) == [
        (0, 20, 30),
        (0, 25, 35),
    ]
    assert windows(Tumbling(span(10), domain="ingestion"), 1) == [(0, 1000, 1010)]


def test_windows_of_the_users_own_see_time_and_columns() -> None:
    window = Custom("own", lambda time, row: [(time, time + 10), (0, int(str(row["n"])))])
    assert windows(window, 3, 4) == [(0, 0, 0), (0, 3, 13), (1, 0, 1), (1, 4, 14)]


def test_a_row_whose_windows_cannot_be_told_is_noted_or_raises() -> None:
    def odd(time: int, _: dict[str, object]) -> list[tuple[int, int]]:
        return [(time, 10 // (time % 2))]

    failed: list[tuple[int, Exception]] = []
    found = assign(rows(1, 2, 3), Custom("odd", odd), SCHEMA, 0, failed)
    assert found["n"].to_list() == [0, 2]
    assert [(row, type(error)) for row, error in failed] == [(1, ZeroDivisionError)]
    with pytest.raises(ZeroDivisionError):
        windows(Custom("odd", odd), 2)


@given(
    st.lists(st.integers(-1000, 1000), max_size=20),
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(-49, 49),
)
def test_hopping_windows_are_those_that_hold_the_time(
    times: list[int], size: int, slide: int, offset: int
) -> None:
    offset %= slide
    expected = [
        (row, start, start + size)
        for row, time in enumerate(times)
        for start in range(-1200, 1200)
        if (start - offset) % slide == 0 and start <= time < start + size
    ]
    assert windows(Hopping(span(size), span(slide), span(offset), gaps=True), *times) == expected
