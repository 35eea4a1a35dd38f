from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import ModelError
from penstock.model.expr import Column
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Custom,
    Global,
    Hopping,
    Session,
    Sliding,
    Span,
    Tumbling,
    Window,
)

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HERE = Path(__file__).name


def daily(time: int, row: dict[str, object]) -> Sequence[Span]:
    return [(time, time + len(row))]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (ps.tumbling("1 minute"), Tumbling(MINUTE)),
        (ps.tumbling(MINUTE, offset="1s"), Tumbling(MINUTE, SECOND)),
        (ps.tumbling("1m", time="processing"), Tumbling(MINUTE, domain="processing")),
        (ps.hopping("1m", "1s"), Hopping(MINUTE, SECOND)),
        (ps.hopping("1m", "1s", time="ingestion"), Hopping(MINUTE, SECOND, domain="ingestion")),
        (ps.sliding("1m"), Sliding(MINUTE)),
        (ps.session("1m"), Session(MINUTE)),
        (ps.session("1s", max_size="1m", touching=False), Session(SECOND, MINUTE, touching=False)),
        (ps.session(ps.col("gap")), Session(Column("gap"))),
        (ps.global_window(), Global()),
        (ps.custom_window(daily), Custom("daily", daily)),
        (ps.count_window(3), Buffered("tumbling", ByCount(3))),
        (ps.count_window(3, 1), Buffered("sliding", ByCount(3), ByCount(1))),
        (
            ps.count_window(3, 1, partial=False),
            Buffered("sliding", ByCount(3), ByCount(1), partial=False),
        ),
        (ps.delta_window("n", 10), Buffered("tumbling", ByDelta("n", 10))),
        (ps.delta_window("n", 10, 2), Buffered("sliding", ByDelta("n", 10), ByDelta("n", 2))),
        (ps.punctuation_window(ps.col("end")), Buffered("tumbling", ByPunctuation(Column("end")))),
        (ps.punctuation_window("end"), Buffered("tumbling", ByPunctuation(Column("end")))),
        (
            ps.buffered_window("sliding", evict=ps.by_time("1m"), fire=ps.by_count(2)),
            Buffered("sliding", ByTime(MINUTE), ByCount(2)),
        ),
        (
            ps.buffered_window("tumbling", evict=ps.by_delta("n", 5), time="processing"),
            Buffered("tumbling", ByDelta("n", 5), domain="processing"),
        ),
    ],
)
def test_a_window_is_said_in_one_word(window: Window, expected: Window) -> None:
    assert window == expected


def test_policies_and_kinds_of_buffers_combine_freely() -> None:
    policies = (
        ps.by_count(2),
        ps.by_delta("n", 1),
        ps.by_punctuation(ps.col("p")),
        ps.by_time("1s"),
    )
    for evict in policies:
        assert ps.buffered_window("tumbling", evict=evict).fire is None
        for fire in policies:
            assert ps.buffered_window("sliding", evict=evict, fire=fire).fire == fire


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: ps.tumbling("1 mite"), "DURATION_FORMAT"),
        (lambda: ps.tumbling("0s"), "WINDOW_SIZE"),
        (lambda: ps.tumbling("1m", offset="2m"), "WINDOW_OFFSET"),
        (lambda: ps.tumbling("1m", time="wall"), "TIME_DOMAIN"),  # type: ignore[arg-type]
        (lambda: ps.count_window(0), "WINDOW_SIZE"),
        (lambda: ps.buffered_window("hop", evict=ps.by_count(2)), "WINDOW_POLICY"),  # type: ignore[arg-type]
        (
            lambda: ps.buffered_window("tumbling", evict=ps.by_count(2), fire=ps.by_count(1)),
            "WINDOW_POLICY",
        ),
    ],
)
def test_what_is_no_window_is_refused_with_its_line(make: Callable[[], Window], code: str) -> None:
    with pytest.raises(ModelError, match=code) as caught:
        make()
    assert f"({HERE}:" in caught.value.fact
