from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.nexmark.answers import answer, count_events
from bench.nexmark.questions import QUESTIONS
from bench.nexmark.rows import START_MS
from tests.bench.nexmark.conftest import Write

START = datetime.fromtimestamp(START_MS / 1000, UTC).replace(tzinfo=None)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def found(query: str, folder: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in answer(query, folder).to_pylist())


def bid(auction: int, price: int, seconds: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"auction": auction, "price": price, "date_time": seconds, **more}


def test_each_query_answers_over_no_events(events: Write) -> None:
    folder = events()
    for query in QUESTIONS:
        assert found(query, folder) == [], query


def test_events_are_those_of_the_topics_that_a_query_reads(events: Write) -> None:
    folder = events(bid=[{}] * 3, auction=[{}] * 2, person=[{}])
    counts = {query: count_events(query, folder) for query in ("q0", "q3", "q4", "q8")}
    assert counts == {"q0": 3, "q3": 3, "q4": 5, "q8": 3}


def test_the_average_of_a_category_is_of_the_highest_bids_in_time(events: Write) -> None:
    folder = events(
        auction=[
            {"id": 1, "category": 10, "date_time": 1, "expires": 5},
            {"id": 2, "category": 10, "date_time": 1, "expires": 5},
            {"id": 3, "category": 11, "date_time": 1, "expires": 5},
        ],
        bid=[bid(1, 10, 2), bid(1, 30, 5), bid(1, 90, 6), bid(2, 11, 1), bid(3, 99, 0)],
    )
    assert found("q4", folder) == [(10, 20)]
    assert [(row[0], row[-3]) for row in found("q9", folder)] == [(1, 30), (2, 11)]


def test_hot_items_are_counted_in_windows_of_ten_seconds_every_two(events: Write) -> None:
    folder = events(bid=[bid(1, 1, 0.5), bid(1, 1, 1), bid(2, 1, 3)])
    # Five windows have the first two bids; the window from 2 s on, only the third.
    assert found("q5", folder) == [(1, 2)] * 5 + [(2, 1)]


def test_the_last_ten_auctions_of_a_seller_are_those_that_close_last(events: Write) -> None:
    sales = [{"id": n, "seller": 7, "date_time": 0, "expires": 100 - n} for n in range(11)]
    bids = [bid(n, 1000 if n == 10 else 20, 1) for n in range(11)]
    folder = events(auction=sales, bid=bids)
    assert found("q6", folder) == [(7, 20)]


def test_the_highest_bid_of_each_window_is_given_whole(events: Write) -> None:
    folder = events(bid=[bid(1, 5, 1), bid(2, 9, 2), bid(3, 9, 9), bid(4, 7, 11)])
    assert [row[:3] for row in found("q7", folder)] == [(2, 1, 9), (3, 1, 9), (4, 1, 7)]


def test_new_users_sell_in_the_window_in_which_they_came(events: Write) -> None:
    folder = events(
        person=[{"id": 1, "name": "a", "date_time": 1}, {"id": 2, "name": "b", "date_time": 9}],
        auction=[
            {"seller": 1, "date_time": 2},
            {"seller": 1, "date_time": 3},
            {"seller": 2, "date_time": 10},
        ],
    )
    assert found("q8", folder) == [(1, "a", at(0))]


def test_a_session_ends_ten_seconds_after_its_last_bid(events: Write) -> None:
    bids = [bid(1, 1, second, bidder=5) for second in (0, 8, 16, 27)]
    assert found("q11", events(bid=bids)) == [(5, 1, at(27), at(37)), (5, 3, at(0), at(26))]


def test_rows_are_converted_filtered_and_taken_apart(events: Write) -> None:
    folder = events(
        bid=[
            bid(123, 2_000_000, 1, extra="cabc", channel="Apple"),
            bid(124, 100, 1, channel="channel-1", url="https://h/x/y/z/i?query=1&channel_id=77"),
            bid(10_001, 100, 1, channel="channel-2"),
        ]
    )
    assert found("q2", folder) == [(123, 2_000_000)]
    assert str(found("q1", folder)[0][2]) == "1816000.000"
    assert [row[:2] + row[-1:] for row in found("q14", folder)] == [(123, 1, 2)]
    assert [row[-1] for row in found("q13", folder)] == ["123", "124", "1"]
    assert [row[-2:] for row in found("q21", folder)] == [("Apple", "0"), ("channel-1", "77")]
    assert [row[-3:] for row in found("q22", folder)][1] == ("x", "y", "z")


def test_statistics_count_by_price_and_each_bidder_once(events: Write) -> None:
    folder = events(
        bid=[
            bid(1, 100, 1, bidder=1, channel="a"),
            bid(1, 20_000, 2, bidder=1, channel="a"),
            bid(2, 2_000_000, 61, bidder=2, channel="b"),
        ]
    )
    day = START.strftime("%Y-%m-%d")
    assert found("q15", folder) == [(day, 3, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1)]
    assert [row[:4] for row in found("q16", folder)] == [
        ("a", day, START.strftime("%H:%M"), 2),
        ("b", day, at(61).strftime("%H:%M"), 1),
    ]
    assert found("q17", folder)[0] == (1, day, 2, 1, 1, 0, 100, 20_000, 10_050, 20_100)


def test_the_last_bid_and_the_ten_highest_are_kept(events: Write) -> None:
    folder = events(bid=[bid(1, price, price, bidder=1) for price in range(12)])
    assert [row[2] for row in found("q18", folder)] == [11]
    assert sorted(row[2] for row in found("q19", folder)) == list(range(2, 12))


@pytest.mark.parametrize("query", ["q3", "q20"])
def test_a_join_takes_category_ten_alone(query: str, events: Write) -> None:
    folder = events(
        person=[{"id": 1, "state": "OR"}],
        auction=[{"id": 1, "category": 10}, {"id": 2, "category": 11}],
        bid=[bid(1, 1, 1), bid(2, 1, 1)],
    )
    assert len(found(query, folder)) == 1
