from __future__ import annotations

from datetime import UTC, datetime

from examples.views_by_page import app

NOON = int(datetime(2026, 5, 4, 12, tzinfo=UTC).timestamp() * 1000)


def view(second: int, user: str, page: str | None = "home") -> dict[str, object]:
    return {"viewtime": NOON + second * 1000, "userid": user, "pageid": page}


def test_the_example_counts_views_and_people_early_on_time_and_late() -> None:
    driver = app.test(clock=NOON)
    driver.push("pageviews", [view(1, "ann"), view(2, "ann"), view(3, "bob")])
    driver.advance_clock(by="10s")
    driver.push("pageviews", view(75, "cy"))
    driver.push("pageviews", view(30, "dan"))
    seen = [
        (row["_pane_timing"], row["views"] * row["_weight"], row["people"])
        for row in driver.changes("views_by_page")
        if row["window_start"].minute == 0
    ]
    assert seen == [
        ("early", 3, 2),
        ("early", -3, 2),
        ("on-time", 3, 2),
        ("on-time", -3, 2),
        ("late", 4, 3),
    ]


def test_a_view_without_a_page_is_parked() -> None:
    driver = app.test(clock=NOON)
    driver.push("pageviews", view(1, "ann", page=None))
    (letter,) = driver.dead_letters("views_by_page")
    assert "has a page" in letter["error"]
