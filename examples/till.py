"""Orders of a coffee bar and how they were paid: the rows of docs/joins.md, in seconds of a day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import penstock as ps
from penstock.testing.driver import TestDriver

ORDER = {"guest": "string", "order": "string", "at": "int64"}
PAYMENT = {"guest": "string", "paid": "string", "at": "int64"}

# Who, what, and the second it happened at. The rows come in this order.
ORDERS = (("ann", "tea", 3), ("bob", "bun", 8), ("ann", "pie", 14), ("cid", "egg", 16))
PAYMENTS = (("ann", "cash", 5), ("bob", "card", 12), ("ann", "coin", 21), ("dot", "card", 7))


def bar(name: str) -> tuple[ps.App, ps.Stream, ps.Stream]:
    """Give a program that reads orders and payments."""
    app = ps.App(name)
    orders = app.stream("orders", schema=ORDER, event_time="at")
    payments = app.stream("payments", schema=PAYMENT, event_time="at")
    return app, orders, payments


def rows() -> Iterable[tuple[str, dict[str, Any]]]:
    """Give all rows in the order of their times: the topic, and the row."""
    found = [("orders", "order", row) for row in ORDERS]
    found += [("payments", "paid", row) for row in PAYMENTS]
    for topic, what, (guest, value, second) in sorted(found, key=lambda item: item[2][2]):
        yield topic, {"guest": guest, what: value, "at": second * 1000}


def serve(app: ps.App, *, end: bool = True) -> TestDriver:
    """Let the morning pass, row by row; the watermark is where the rows are."""
    driver = app.test(watermarks="manual")
    for topic, row in rows():
        driver.advance_watermark(row["at"])
        driver.push(topic, row)
    if end:
        driver.finish()
    return driver


def told(driver: TestDriver, topic: str) -> list[str]:
    """Give the results in words, those taken back with a minus."""
    return [
        f"{'-' if row['_weight'] < 0 else ' '} {row['guest']:4} {row['order'] or '·':4}"
        f" {row['paid'] or '·':5} at {row['_time'] // 1000}"
        for row in driver.changes(topic)
    ]
