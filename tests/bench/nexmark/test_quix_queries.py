from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.nexmark.peers.quix_queries import QUERIES
from bench.nexmark.questions import QUESTIONS


class State(dict[str, Any]):
    """What Quix Streams keeps for a key."""

    def set(self, key: str, value: object) -> None:
        self[key] = value


class Frame:
    """Rows by a key, each worked on as Quix Streams does: one by one, state by key."""

    def __init__(self, rows: list[tuple[str, dict[str, Any]]]) -> None:
        self.rows = rows

    def concat(self, other: Frame) -> Frame:
        return Frame([*self.rows, *other.rows])

    def apply(
        self, work: Callable[..., Any], *, stateful: bool = False, expand: bool = False
    ) -> Frame:
        states: dict[str, State] = {}
        found: list[tuple[str, dict[str, Any]]] = []
        for key, row in self.rows:
            given = work(row, states.setdefault(key, State())) if stateful else work(row)
            found.extend((key, made) for made in (given if expand else [given]))
        return Frame(found)


class Frames:
    """Events written by hand."""

    def __init__(self, **kinds: list[dict[str, Any]]) -> None:
        self.kinds = kinds

    def read(self, kind: str, key: str) -> Frame:
        return Frame([(str(row[key]), row) for row in self.kinds[kind]])

    def regroup(self, frame: Frame, column: str) -> Frame:
        return Frame([(str(row[column]), row) for _, row in frame.rows])

    def side(self) -> dict[int, str]:
        return {7: "seven"}


def auction(number: int) -> dict[str, Any]:
    return {"id": number, "seller": 1, "category": 10, "date_time": 0, "expires": 100 + number}


def bid(auction: int, price: int) -> dict[str, Any]:
    return {"auction": auction, "bidder": 5, "price": price, "date_time": 50, "extra": ""}


def results(query: str, **kinds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for _, row in QUERIES[query](Frames(**kinds)).rows]


def test_quix_streams_answers_every_question() -> None:
    assert set(QUERIES) == set(QUESTIONS)


def test_the_average_is_that_of_the_last_ten_sales_of_a_seller() -> None:
    bids = [bid(number, 1000 if number == 0 else 10 * number) for number in range(11)]
    averages = results("q6", auction=[auction(number) for number in range(11)], bid=bids)
    # The first sale has fallen behind the ten that end later.
    assert averages[-1] == {"seller": 1, "avg_price": 55}


def test_a_higher_bid_takes_the_place_of_the_one_before_in_an_average() -> None:
    averages = results("q6", auction=[auction(1)], bid=[bid(1, 10), bid(1, 30), bid(1, 20)])
    assert [row["avg_price"] for row in averages] == [10, 30]


@pytest.mark.parametrize(("number", "found"), [(10_007, ["seven"]), (8, [])])
def test_a_bid_is_joined_with_the_table_at_rest(number: int, found: list[str]) -> None:
    assert [row["value"] for row in results("q13", bid=[bid(number, 1)])] == found
