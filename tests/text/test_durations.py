from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import UsageError
from penstock.text.durations import duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("90s", timedelta(seconds=90)),
        ("1h30m", timedelta(minutes=90)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(days=14)),
        ("250ms", timedelta(milliseconds=250)),
        ("1.5s", timedelta(milliseconds=1500)),
        ("1 h 5 m", timedelta(minutes=65)),
        ("5M", timedelta(minutes=5)),
        ("0", timedelta(0)),
    ],
)
def test_a_duration_is_read(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "7 days", "1h30", "1x", "9" * 30 + "w"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="DURATION_FORMAT"):
        parse_duration(text)


@given(st.integers(0, 10**12))
def test_what_is_written_reads_the_same(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert parse_duration(duration_text(duration)) == duration


def test_a_duration_is_written_short() -> None:
    assert duration_text(timedelta(days=7)) == "7d"
    assert duration_text(timedelta(minutes=90)) == "1h30m"
    assert duration_text(timedelta(0)) == "0s"
