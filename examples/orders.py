"""The orders of a coffee bar on one morning: when each was paid, and when we heard of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import penstock as ps
from penstock.testing.driver import TestDriver
from penstock.testing.picture import Box, Dot, Picture

SCHEMA = {"bar": "string", "euros": "int64", "paid_at": "timestamp"}

# Euros, when it was paid, and when the till's message arrived: one comes much too late.
ORDERS = (
    (4, "09:00:20", "09:05:10"),
    (6, "09:02:30", "09:05:40"),
    (2, "09:03:40", "09:06:10"),
    (5, "09:04:10", "09:06:40"),
    (7, "09:03:00", "09:07:00"),
    (3, "09:06:40", "09:07:20"),
    (9, "09:01:30", "09:08:20"),
    (8, "09:07:30", "09:08:40"),
    (1, "09:07:50", "09:09:10"),
)


def at(text: str) -> datetime:
    """Give a time of that morning."""
    return datetime.fromisoformat(f"2026-05-04T{text}+00:00")


def rows() -> Iterator[tuple[dict[str, Any], datetime]]:
    """Give each order as a row, and when it arrived."""
    for euros, paid, heard in ORDERS:
        yield {"bar": "centre", "euros": euros, "paid_at": at(paid)}, at(heard)


def stream(app: ps.App, *, lateness: str = "90s") -> ps.Stream:
    """Give the orders as a stream whose rows may be so much out of order."""
    return app.stream("orders", schema=SCHEMA, event_time="paid_at", lateness=lateness)


def play(app: ps.App, *, end: bool = True) -> TestDriver:
    """Let the morning pass, order by order, on virtual clocks."""
    driver = app.test(clock=at("09:05:00"))
    for row, heard in rows():
        driver.push("orders", row, at=heard)
    if end:
        driver.advance_clock(to=at("09:10:00"))
        driver.finish()
    return driver


def picture(app: ps.App, topic: str, title: str) -> Picture:
    """Let the morning pass and draw it: orders, panes and the watermark."""
    driver = app.test(clock=at("09:05:00"))
    boxes: list[Box] = []
    marks: list[tuple[int, int]] = []

    def look() -> None:
        clock = driver.clock
        boxes.extend(_box(change, clock) for change in driver.take(topic))
        if driver.watermark > 0:
            marks.append((clock, driver.watermark))

    dots = []
    for row, heard in rows():
        _pass_until(driver, heard, look)
        late = len(driver.late(topic))
        driver.push("orders", row, at=heard)
        look()
        dropped = len(driver.late(topic)) > late
        dots.append(Dot(_millis(row["paid_at"]), _millis(heard), str(row["euros"]), dropped))
    _pass_until(driver, at("09:10:00"), look)
    driver.finish()
    boxes.extend(_box(change, driver.clock) for change in driver.take(topic))
    whole = (_millis(at("09:00:00")), _millis(at("09:08:00")))
    bounded = [_within(box, whole) for box in boxes]
    shown = [mark for mark in marks if mark[1] <= whole[1]]
    return Picture(title, dots, bounded, shown)


def _pass_until(driver: TestDriver, moment: datetime, look: Callable[[], None]) -> None:
    # In steps, so that a pane is drawn at the time it was given.
    while driver.clock < _millis(moment):
        driver.advance_clock(to=min(driver.clock + 10_000, _millis(moment)))
        look()


def _box(change: dict[str, Any], clock: int) -> Box:
    start, end = change.get("window_start"), change.get("window_end")
    return Box(
        start=_millis(start) if start else 0,
        end=_millis(end) if end else 2**62,
        given_at=clock,
        label=str(change["total"]),
        timing=change["_pane_timing"],
        taken_back=change["_weight"] < 0,
    )


def _within(box: Box, whole: tuple[int, int]) -> Box:
    return Box(
        max(box.start, whole[0]),
        min(box.end, whole[1]),
        box.given_at,
        box.label,
        box.timing,
        box.taken_back,
    )


def _millis(moment: datetime) -> int:
    return round(moment.astimezone(UTC).timestamp() * 1000)
