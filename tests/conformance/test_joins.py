from __future__ import annotations

import pytest

from tests.conformance.engine import Pane
from tests.conformance.joins import checks
from tests.conformance.joins_changes import Given, Record, Table, changes_of, pair, text_with
from tests.conformance.runner import SHARED, Case, load_cases, run_case

FACTS = SHARED / "joins.json"
ABSENT = pytest.param(None, marks=pytest.mark.skip(reason="the shared facts are not here"))
ALL = load_cases(FACTS) if FACTS.exists() else []
CASES = [pytest.param(case, id=case.id) for case in ALL]
CHECKS = checks("driver")
ON_SPARK = {
    "joins/stream-stream/unit-outer-test-grace-period",
    "joins/foreign-key/from-right-left",
    "joins/temporal/left",
    "joins/window/sql-full",
}


@pytest.mark.parametrize("case", CASES or [ABSENT])
def test_a_fact_about_joins_holds(case: Case) -> None:
    if not case.required:
        pytest.skip("the source shows what an implementation does, which is not the ideal result")
    assert run_case(case, CHECKS).failure is None


@pytest.mark.spark
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id) for case in ALL if case.id in ON_SPARK] or [ABSENT]
)
def test_a_fact_about_joins_holds_on_spark(case: Case) -> None:
    assert run_case(case, checks("spark")).failure is None


def _row(left: str | None, right: str | None, weight: int = 1, time: int = 1) -> Pane:
    return Pane({"key": "k", "left": left, "right": right}, weight, time, clock=0)


def test_a_row_replaced_by_another_is_one_record() -> None:
    table = Table(text_with("-"))
    table.take([_row("A", "a")])
    assert table.take([_row("A", "a", -1), _row("A", "b", time=2)]) == [Record("k", "A-b", 2)]


def test_a_row_that_is_only_taken_back_is_a_tombstone() -> None:
    table = Table(pair)
    table.take([_row("A", "a")])
    assert table.take([_row("A", "a", -1)]) == [Record("k", None)]
    assert table.rows == {}


def test_a_row_taken_back_with_another_time_than_it_was_given_with_is_told() -> None:
    table = Table(pair)
    table.take([_row("A", "a", time=1)])
    with pytest.raises(AssertionError, match="taken back"):
        table.take([_row("A", "a", -1, time=2)])


def test_two_rows_of_one_key_are_told() -> None:
    with pytest.raises(AssertionError, match="has one row"):
        Table(pair).take([_row("A", "a"), _row("A", "b")])


def test_records_that_change_nothing_are_left_out() -> None:
    records = [Record("k", None, 1), Record("k", "A", 2), Record("k", "A", 3), Record("k", None, 4)]
    assert changes_of(records, {}) == [Record("k", "A", 2), Record("k", None)]


def test_of_streams_only_a_row_that_came_out_alone_may_be_taken_back() -> None:
    given = Given(text_with("+"))
    assert given.take([_row("A", None)]) == [Record("k", "A+null", 1)]
    assert given.take([_row("A", None, -1), _row("A", "a")]) == [Record("k", "A+a", 1)]
    with pytest.raises(AssertionError, match="alone"):
        given.take([_row("A", "a", -1)])


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"time_difference": 10, "then": [{"before": [0, -10]}, {"after": -10}]}, True),
        ({"time_difference": 10, "then": [{"after": [-11]}]}, False),
        ({"time_difference": -1}, False),
        ({"time_difference": 1, "grace": -1}, False),  # JOIN_LATE
    ],
)
def test_a_window_of_a_join_has_a_begin_before_its_end_and_no_negative_grace(
    given: dict[str, object], *, valid: bool
) -> None:
    case = Case("a", "join_window_valid", "derived", given, {"valid": valid})
    assert run_case(case, CHECKS).failure is None
