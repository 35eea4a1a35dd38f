from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from examples.patterns import app


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def of(name: str, key: str, column: str, events: list[tuple[int, Any]]) -> list[dict[str, Any]]:
    return [{name: key, column: value, "at": at(second)} for second, value in events]


def test_the_example_finds_its_complex_events() -> None:
    driver = app.test()
    tries = [(0, False), (50, True), (60, False), (80, False), (119, False), (200, True)]
    driver.push("logins", of("user", "ann", "ok", tries))
    prices = [(0, 9.0), (1, 8.0), (2, 7.0), (3, 9.0), (4, 8.0), (5, 7.0), (6, 6.0), (7, 7.0)]
    driver.push("prices", of("share", "acme", "price", prices))
    paid = [(0, "Paris"), (60, "Paris"), (120, "Rome"), (900, "Oslo")]
    rows = of("card", "4711", "city", paid)
    driver.push("payments", [{**row, "amount": 10.0} for row in rows])
    steps = [(0, "ordered"), (600, "paid")]
    driver.push("orders", [*of("id", "a", "what", steps), *of("id", "b", "what", steps[:1])])
    driver.finish()
    assert driver.rows("break_ins") == [{"user": "ann", "first": at(60), "last": at(119)}]
    assert driver.rows("turns") == [
        {"share": "acme", "bottom": 7.0, "price": 9.0},
        {"share": "acme", "bottom": 6.0, "price": 7.0},
    ]
    assert driver.rows("stolen_cards") == [
        {"card": "4711", "one": "Paris", "other": "Rome", "spent": 20.0}
    ]
    assert driver.rows("unpaid") == [{"id": "b", "since": at(0)}]
