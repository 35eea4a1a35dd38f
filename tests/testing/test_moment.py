from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from penstock.errors import ModelError
from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.testing.moment import Moment, millis, read_moment, span_millis


@pytest.mark.parametrize(
    "moment",
    [
        3_600_000,
        datetime(1970, 1, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 1),  # noqa: DTZ001
        datetime(1970, 1, 1, 3, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_time_is_milliseconds_since_1970(moment: Moment) -> None:
    assert millis(moment) == 3_600_000


def test_a_span_is_milliseconds() -> None:
    assert span_millis(5) == 5
    assert span_millis(timedelta(seconds=2)) == 2_000


@pytest.mark.parametrize(
    ("text", "time"),
    [
        (7, 7),
        ("0:01", 60_000),
        ("12:00:00.5", 43_200_500),
        ("90s", 90_000),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T00:00:01Z", 1_000),
        ("start", START_OF_TIME),
        ("end", END_OF_TIME),
    ],
)
def test_a_transcript_writes_times_in_many_ways(text: object, time: int) -> None:
    assert read_moment(text) == time


def test_a_time_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ModelError, match="DURATION_FORMAT"):
        read_moment("soon")
