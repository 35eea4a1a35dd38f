from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ModelError
from penstock.model.duration import duration_of, duration_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", timedelta(seconds=10)),
        ("1 minute", timedelta(minutes=1)),
        ("2 Minutes", timedelta(minutes=2)),
        ("1h30m", timedelta(minutes=90)),
        ("1 hour 30 min", timedelta(minutes=90)),
        ("250ms", timedelta(milliseconds=250)),
        ("250 milliseconds", timedelta(milliseconds=250)),
        ("0.5s", timedelta(milliseconds=500)),
        ("2 days", timedelta(days=2)),
        ("1w", timedelta(weeks=1)),
        ("0", timedelta(0)),
        ("-5s", timedelta(seconds=-5)),
    ],
)
def test_a_duration_is_read_as_people_write_it(text: str, expected: timedelta) -> None:
    assert duration_of(text) == expected


@pytest.mark.parametrize("text", ["", "ten", "10", "10 parsecs", "s", "1 minute!", "0.1ms", "1e9d"])
def test_text_that_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="DURATION_FORMAT") as caught:
        duration_of(text)
    assert f'"{text}"' in caught.value.fact


def test_a_number_without_a_unit_is_refused() -> None:
    with pytest.raises(ModelError, match="duration 10 is not a number with a unit"):
        duration_of(10)  # type: ignore[arg-type]  # that is the point


def test_a_span_longer_than_can_be_counted_is_refused() -> None:
    with pytest.raises(ModelError, match="longer than can be counted"):
        duration_of("99999999999999 weeks")


def test_a_span_finer_than_a_millisecond_is_refused() -> None:
    with pytest.raises(ModelError, match="finer than a millisecond"):
        duration_of(timedelta(microseconds=1))


@given(st.integers(-(10**12), 10**12))
def test_what_is_written_is_read_as_the_same(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert duration_of(duration_text(duration)) == duration
