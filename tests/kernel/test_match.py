from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from penstock.front.dsl.expression import Operand, col
from penstock.front.dsl.matched import (
    classifier,
    collect_list,
    final,
    first,
    last,
    match_number,
    matched,
    max,  # noqa: A004
    prev,
    sum,  # noqa: A004
)
from penstock.front.dsl.patterns import (
    PatternPart,
    match_step,
    skip_to_first,
    skip_to_last,
    skip_to_next_row,
    step,
)
from penstock.kernel import match_find, match_order
from penstock.kernel.match import MatchOperator
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Frame, State, Step, Time
from penstock.model.match import Match, Rows, Skip
from penstock.model.pattern import Pattern
from tests.kernel.frames import ENDED, NEVER, a_stream, delta, play

A = step("a", col("n") == 1)
B = step("b", col("n") == 2)
C = step("c", col("n") == 3)
NOTHING = delta()


def a_match(
    pattern: PatternPart | Pattern,
    emit: dict[str, Operand] | None = None,
    *,
    skip: Skip | None = None,
    rows: Rows = "one",
) -> Match:
    given = {"times": collect_list((), "x")} if emit is None else emit
    return match_step((a_stream(), ("key",)), pattern, given, skip=skip or Skip(), rows=rows)


def an_operator(
    pattern: PatternPart | Pattern,
    emit: dict[str, Operand] | None = None,
    *,
    skip: Skip | None = None,
    rows: Rows = "one",
    keep_late: int = 0,
) -> MatchOperator:
    return MatchOperator(a_match(pattern, emit, skip=skip, rows=rows), keep_late)


def events(numbers: str, *, key: str | None = "k", start: int = 0) -> Frame:
    """One row a number, ten milliseconds apart; `x` is its time, a dot is no number."""
    return delta(
        *(
            {
                "key": key,
                "n": None if number == "." else int(number),
                "t": start + 10 * place,
                "x": float(start + 10 * place),
            }
            for place, number in enumerate(numbers)
        )
    )


def found(steps: list[Step], *columns: str) -> list[tuple[Any, ...]]:
    return [row for item in steps for row in item.output.select(columns or ("times",)).rows()]


def matches(pattern: PatternPart | Pattern, numbers: str, **how: Any) -> list[str]:  # noqa: ANN401
    """The places of the rows of each match."""
    steps = play(an_operator(pattern, **how), (events(numbers), NEVER), (NOTHING, ENDED))
    return ["".join(f"{time / 10:.0f}" for time in times) for (times,) in found(steps)]


def reach(watermark: int) -> Time:
    return Time(watermark, 0)


def within(part: PatternPart, milliseconds: int) -> Pattern:
    return part.within(timedelta(milliseconds=milliseconds))


@pytest.mark.parametrize(
    ("pattern", "numbers", "places"),
    [
        (A.then(B), "12312.12", ["01", "34", "67"]),
        (A.then(B), "1.2", []),
        (A.followed_by(B), "1.21..2", ["02", "36"]),
        (A.followed_by(B).then(C), "1.2.23", []),
        (A.followed_by_any(B).then(C), "1.2.23", ["045"]),
        (A.times(3), "111111", ["012", "345"]),
        (A.times(2, 3), "11111", ["012", "34"]),
        (A.times(2).with_gaps(), "1.1", ["02"]),
        (A.one_or_more().then(B), "1112", ["0123"]),
        (A.one_or_more(), "1112", ["012"]),
        (A.one_or_more().reluctant(), "111", ["0", "1", "2"]),
        (A.then(B.optional()).then(C), "13.123", ["01", "345"]),
        (A.then(B.zero_or_more()).then(C), "13.12223", ["01", "34567"]),
        ((A | B).then(C), "13.23", ["01", "34"]),
        (A.then(B | A.then(C)), "12.113", ["01", "345"]),
        (A.not_next(B).followed_by(C), "123.1.3", ["46"]),
        (A.not_followed_by(B).followed_by(C), "1.2.3.1.3", ["68"]),
        (A.one_or_more().with_gaps().until(col("n") == 9).followed_by(B), "1.1.9.1.2", ["028"]),
        (A.then(B).one_or_more(), "1212.12", ["0123", "56"]),
        (step("any").then(B), "112", ["12"]),
    ],
)
def test_the_preferred_match_is_found(
    pattern: PatternPart, numbers: str, places: list[str]
) -> None:
    assert matches(pattern, numbers) == places


@pytest.mark.parametrize(
    ("skip", "places"),
    [
        (None, ["0123", "456"]),
        (skip_to_next_row(), ["0123", "123", "23", "456", "56"]),
        (skip_to_first("b"), ["0123", "456"]),
        (skip_to_last("a"), ["0123", "23", "456", "56"]),
    ],
)
def test_the_next_match_begins_where_it_is_said(skip: Skip | None, places: list[str]) -> None:
    assert matches(A.one_or_more().then(B), "1112112", skip=skip) == places


def test_a_skip_to_a_row_of_a_step_that_is_not_there_goes_to_the_next_row() -> None:
    pattern = A.one_or_more().then(C.optional()).then(B)
    assert matches(pattern, "112", skip=skip_to_first("c")) == ["012", "12"]


def test_a_match_takes_less_than_its_time() -> None:
    assert matches(within(A.followed_by(B), 20), "1.2") == []
    assert matches(within(A.followed_by(B), 21), "1.2") == ["02"]
    assert matches(within(A.one_or_more(), 30), "1111111") == ["012", "345", "6"]


def test_at_the_end_a_step_that_does_not_come_is_known_when_the_time_is_over() -> None:
    operator = an_operator(within(A.not_followed_by(B), 30))
    steps = play(
        operator,
        (events("1"), reach(29)),
        (NOTHING, reach(30)),
        (events("12", start=100), reach(129)),
        (NOTHING, reach(200)),
    )
    assert [found([item]) for item in steps] == [[], [([0.0],)], [], []]
    assert steps[-1].state.rows == 0


def test_not_next_at_the_end_waits_for_the_next_row() -> None:
    steps = play(
        an_operator(A.not_next(B)), (events("1"), reach(15)), (events("3", start=20), ENDED)
    )
    assert [found([item]) for item in steps] == [[], [([0.0],)]]
    assert matches(A.not_next(B), "1212") == []


def test_rows_wait_for_the_watermark_and_count_in_the_order_of_time() -> None:
    late_first = delta({"key": "k", "n": 2, "t": 20}, {"key": "k", "n": 1, "t": 10})
    operator = an_operator(A.then(B), {"a": first("a", "n"), "b": first("b", "n")})
    steps = play(operator, (late_first, reach(20)), (NOTHING, reach(21)))
    assert [item.output.height for item in steps] == [0, 1]
    assert found(steps, "key", "a", "b", "_time", "_taken", "_weight") == [("k", 1, 2, 20, 20, 1)]


def test_rows_of_one_time_count_in_the_order_of_their_arrival() -> None:
    rows = [{"key": "k", "n": n, "t": 5, "x": float(n)} for n in (1, 2)]
    assert len(found(play(an_operator(A.then(B)), (delta(*rows), ENDED)))) == 1
    assert len(found(play(an_operator(A.then(B)), (delta(*rows[::-1]), ENDED)))) == 0
    one_by_one = play(an_operator(A.then(B)), (delta(rows[0]), NEVER), (delta(rows[1]), ENDED))
    assert len(found(one_by_one)) == 1


def test_a_row_behind_the_watermark_is_late_and_so_is_one_without_a_time() -> None:
    operator = an_operator(A)
    nameless = events("1").with_columns(_time=None).cast({"_time": events("1")["_time"].dtype})
    last_step = play(operator, (NOTHING, reach(10)), (events("11"), reach(20)), (nameless, ENDED))
    assert [item.counts.late for item in last_step] == [0, 1, 1]
    late = last_step[1].late
    assert late is not None
    assert late["_time"].to_list() == [0]
    assert "behind the watermark" in late["_reason"][0]


def test_rows_that_may_come_later_than_the_watermark_are_waited_for() -> None:
    operator = an_operator(A, keep_late=50)
    steps = play(operator, (NOTHING, reach(40)), (events("1"), reach(50)), (NOTHING, reach(51)))
    assert [item.output.height for item in steps] == [0, 0, 1]
    assert all(item.late is None for item in steps)
    for_ever = an_operator(A, keep_late=END_OF_TIME)
    assert len(found(play(for_ever, (events("1"), reach(9_999)), (NOTHING, ENDED)))) == 1


def test_keys_are_matched_apart_and_null_is_a_key() -> None:
    rows = [
        {"key": key, "n": n, "t": t, "x": float(t)}
        for t, (key, n) in enumerate([("k", 1), (None, 1), ("l", 2), (None, 2), ("k", 2)])
    ]
    steps = play(an_operator(A.then(B)), (delta(*rows), ENDED))
    assert found(steps, "key", "times") == [(None, [1.0, 3.0]), ("k", [0.0, 4.0])]


def test_without_keys_all_rows_are_matched_together() -> None:
    relation = match_step((a_stream(), ()), A.then(B), {"n": matched()})
    rows = delta({"key": "k", "n": 1, "t": 1}, {"key": "l", "n": 2, "t": 2})
    steps = play(MatchOperator(relation, 0), (rows, reach(2)), (NOTHING, reach(5)))
    assert found(steps, "n") == [(2,)]


def test_conditions_look_at_earlier_rows() -> None:
    rise = step("rise", col("n") > prev("n"))
    fall = step("fall", col("n") < prev("n")).times(2)
    assert matches(fall.then(rise), "5434215") == ["123", "456"]
    higher = step("b", col("n") > last("a", "n"))
    assert matches(A.followed_by(higher), "11.13") == ["04"]
    growing = step("g", col("n") > last("g", "n", offset=1)) | step("s")
    assert matches(step("s").then(growing.one_or_more()), "12") == ["01"]
    small = step("c", sum(("a", "c"), "n") < 6).one_or_more()
    assert matches(A.then(small), "1223") == ["012"]


def test_a_value_of_the_step_itself_is_that_of_the_row() -> None:
    own = step("b", (max("b", "n") < 5) & (matched("b") <= 2)).one_or_more()
    assert matches(A.then(own), "1444") == ["012"]


def test_functions_of_an_earlier_row_are_computed_where_it_is() -> None:
    even = step("b", (last("a", "n") % 2 == 1) & (col("key") == last("a", "key")))
    assert matches(A.then(even), "12") == ["01"]
    texts = step("b", last("a", col("n").cast("string")) == "1")
    assert matches(A.then(texts), "12") == ["01"]


def test_the_row_before_is_remembered_as_long_as_a_match_may_take() -> None:
    operator = an_operator(within(step("b", prev("n") == 1), 50), {"before": prev("n")})
    steps = play(
        operator,
        (events("1"), reach(15)),
        (events("2", start=20), reach(55)),
        (events("1", start=60), reach(65)),
        (NOTHING, reach(110)),
        (events("2", start=110), reach(200)),
    )
    assert found(steps, "before", "_time") == [(1, 20)]
    assert [item.state.rows for item in steps] == [1, 1, 1, 0, 0]


def test_rows_that_no_match_can_have_are_not_kept() -> None:
    operator = an_operator(within(A.then(B).then(C), 100))
    steps = play(operator, (events("2233"), reach(100)), (events("12", start=100), reach(199)))
    assert [item.state.rows for item in steps] == [0, 2]
    [*_, ended] = play(operator, (events("12", start=100), reach(199)), (NOTHING, reach(200)))
    assert ended.state == State({}, reach(200))


def test_rows_between_steps_are_let_go_where_they_do_not_matter() -> None:
    operator = an_operator(within(A.followed_by(B), 1_000))
    [step_] = play(operator, (events("1.....9.."), reach(500)))
    assert step_.state.rows == 1
    assert (step_.counts.passed, step_.counts.filtered) == (1, 8)
    strict = an_operator(within(A.then(B), 1_000))
    [step_] = play(strict, (events("1....."), NEVER))
    assert step_.counts.filtered == 0


def test_nothing_is_written_anew_while_nothing_changes() -> None:
    operator = an_operator(within(A.then(B), 1_000))
    one, two = play(operator, (events("1"), reach(50)), (NOTHING, reach(60)))
    assert two.state.tables["live"] is one.state.tables["live"]


def test_an_open_start_holds_later_ones_back_unless_each_counts_for_itself() -> None:
    closer = step("b", col("n") == last("a", "n") + 1)
    pattern = within(step("a", col("n") < 9).followed_by(closer), 1_000)
    numbers = "534"
    waiting = play(an_operator(pattern), (events(numbers), reach(100)), (NOTHING, reach(1_000)))
    assert [item.output.height for item in waiting] == [0, 1]
    at_once = an_operator(pattern, skip=skip_to_next_row())
    [now, *_] = play(at_once, (events(numbers), reach(100)))
    assert found([now]) == [([10.0, 20.0],)]


def test_all_rows_of_a_match_are_given_with_what_is_known_at_each() -> None:
    emit: dict[str, Operand] = {
        "step": classifier(),
        "count": matched(),
        "of_b": matched("b"),
        "all": final(matched()),
        "first_b": first("b", "x"),
        "total": sum("b", "n"),
        "number": match_number(),
        "twice": col("n") * 2,
    }
    pattern = A.then(B.times(2).hidden()).then(step("d"))
    operator = an_operator(pattern, emit, rows="all")
    steps = play(operator, (events("1225"), ENDED))
    assert found(steps, "n", *emit, "_time") == [
        (1, "a", 1, 0, 4, None, None, 1, 2, 30),
        (5, "d", 4, 2, 4, 10.0, 4, 1, 10, 30),
    ]


def test_matches_are_numbered_by_key_over_all_batches() -> None:
    operator = an_operator(A, {"number": match_number()})
    steps = play(
        operator,
        (events("11"), reach(50)),
        (events("1", key="l", start=60), reach(100)),
        (events("1", start=200), ENDED),
    )
    assert found(steps, "key", "number") == [("k", 1), ("k", 2), ("l", 1), ("k", 3)]
    whole = MatchOperator(match_step((a_stream(), ()), A, {"number": match_number()}), 0)
    steps = play(whole, (events("11"), reach(50)), (events("1", start=200), ENDED))
    assert found(steps, "number") == [(1,), (2,), (3,)]


def test_a_pattern_of_many_ways_takes_one_look_at_each_row() -> None:
    ways = step("a", col("n") == 1).one_or_more().one_or_more().one_or_more().then(B)
    assert matches(ways, "1" * 200 + "3") == []


@pytest.mark.parametrize("skip", [None, skip_to_next_row()])
@pytest.mark.parametrize(
    "pattern",
    [
        within(A.followed_by(B), 35),
        within(A.one_or_more().with_gaps(), 40),
        within(A.not_followed_by(B), 30),
        A.followed_by(B).followed_by(C),
        A.one_or_more().not_next(B),
    ],
)
def test_starts_of_a_busy_key_are_walked_together_and_find_the_same(
    pattern: Pattern, skip: Skip | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = "1.11.2.131.2..1113.1"
    alone = matches(pattern, numbers, skip=skip)
    monkeypatch.setattr(match_find, "_LONG", 1)
    assert alone
    assert matches(pattern, numbers, skip=skip) == alone


def test_the_order_of_results_depends_on_the_matches_alone() -> None:
    rows = [{"key": key, "n": n, "t": 10 * n, "x": 0.0} for key in "zxy" for n in (1, 2)]
    steps = play(an_operator(A.then(B)), (delta(*rows), ENDED))
    assert found(steps, "key") == [("x",), ("y",), ("z",)]


def test_keys_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_order, "_hash", lambda _: pl.lit(0, pl.UInt64))
    rows = [{"key": key, "n": n, "t": 10 * n, "x": 0.0} for n in (1, 2) for key in "zxy"]
    steps = play(an_operator(A.then(B)), (delta(*rows), ENDED))
    assert found(steps, "key") == [("x",), ("y",), ("z",)]


def test_rows_are_not_packed_before_the_exchange() -> None:
    rows = events("12")
    assert an_operator(A).pack(rows, START_OF_TIME) is rows
    assert an_operator(A).keys == ("key",)
