from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import UsageError
from penstock.text.place import parse_place
from penstock.text.times import parse_time, parse_timestamp, time_text

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01", NEW_YEAR),
        ("2026-01-01T00:00:00Z", NEW_YEAR),
        ("2026-01-01 00:00", NEW_YEAR),
        ("2026-01-01T02:00:00+02:00", NEW_YEAR),
        ("2026-01-01T00:00:00.250Z", NEW_YEAR + timedelta(milliseconds=250)),
    ],
)
def test_a_time_is_read_in_utc_where_it_has_no_zone(text: str, moment: datetime) -> None:
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is not None


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "12:30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="TIME_FORMAT"):
        parse_time(text)


def test_a_timestamp_is_milliseconds_or_a_time() -> None:
    assert parse_timestamp("1767225600000") == 1767225600000
    assert parse_timestamp("-5") == -5
    assert parse_timestamp("2026-01-01T00:00:00Z") == 1767225600000


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_what_is_written_reads_the_same(timestamp: int) -> None:
    assert parse_timestamp(time_text(timestamp)) == timestamp


def test_a_timestamp_that_no_calendar_holds_stays_a_number() -> None:
    assert time_text(2**62) == str(2**62)


def test_a_place_is_a_word_an_offset_or_a_time() -> None:
    assert parse_place("earliest") == "earliest"
    assert parse_place("latest") == "latest"
    assert parse_place("42") == 42
    assert parse_place("2026-01-01") == NEW_YEAR
    assert parse_place("2026-01-01T01:00+01:00") == datetime(
        2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))
    )


def test_what_is_no_place_is_refused() -> None:
    with pytest.raises(UsageError, match="PLACE_FORMAT"):
        parse_place("-3")
