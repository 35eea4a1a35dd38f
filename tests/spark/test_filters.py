from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from penstock.spark.filters import Scope, Span, narrow

AT = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
A_LITTLE = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("item", "span"),
    [
        (EqualTo(("_offset",), 5), Span(5, 5)),
        (GreaterThan(("_offset",), 5), Span(first=6)),
        (GreaterThanOrEqual(("_offset",), 5), Span(first=5)),
        (LessThan(("_offset",), 5), Span(last=4)),
        (LessThanOrEqual(("_offset",), 5), Span(last=5)),
    ],
)
def test_a_condition_on_the_offset_narrows_the_read(item: Filter, span: Span) -> None:
    assert narrow(Scope(), [item]) == (Scope(offsets=span), [])


@pytest.mark.parametrize(
    ("item", "span"),
    [
        (GreaterThan(("_timestamp",), AT), Span(first=1001)),
        (GreaterThan(("_timestamp",), AT - A_LITTLE), Span(first=1000)),
        (GreaterThanOrEqual(("_timestamp",), AT), Span(first=1000)),
        (GreaterThanOrEqual(("_timestamp",), AT + A_LITTLE), Span(first=1001)),
        (LessThan(("_timestamp",), AT), Span(last=999)),
        (LessThan(("_timestamp",), AT + A_LITTLE), Span(last=1000)),
        (LessThanOrEqual(("_timestamp",), AT), Span(last=1000)),
        (EqualTo(("_timestamp",), AT), Span(1000, 1000)),
        (EqualTo(("_timestamp",), AT.replace(tzinfo=None)), Span(1000, 1000)),
    ],
)
def test_a_condition_on_the_time_is_kept_to_the_millisecond(item: Filter, span: Span) -> None:
    assert narrow(Scope(), [item]) == (Scope(times=span), [])


def test_a_time_between_two_milliseconds_has_no_record() -> None:
    scope, left = narrow(Scope(), [EqualTo(("_timestamp",), AT + A_LITTLE)])
    assert not left
    assert scope.times.first > scope.times.last


def test_partitions_are_chosen() -> None:
    scope, left = narrow(
        Scope(), [In(("_partition",), (1, 2)), In(("_partition",), (2, 3)), IsNotNull(("_offset",))]
    )
    assert not left
    assert [scope.includes(partition) for partition in range(4)] == [False, False, True, False]


@pytest.mark.parametrize(
    "item",
    [
        EqualTo(("userid",), "u"),
        Not(EqualTo(("_offset",), 5)),
        EqualTo(("_offset",), "5"),
        EqualTo(("_timestamp",), "1970-01-01"),
        GreaterThan(("_partition",), 1),
        EqualTo(("_partition",), "1"),
        EqualTo(("a", "_offset"), 1),
    ],
)
def test_other_conditions_are_left_to_spark(item: Filter) -> None:
    assert narrow(Scope(), [item]) == (Scope(), [item])
