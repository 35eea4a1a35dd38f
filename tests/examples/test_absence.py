from __future__ import annotations

from examples.absence import app


def visit(second: int, user: str, page: str | None = "/") -> dict[str, object]:
    return {"user": user, "page": page, "at": second * 1000}


def test_the_example_tells_who_has_not_been_seen_for_a_minute() -> None:
    driver = app.test()
    for found in (visit(0, "ann"), visit(30, "ann", "/cart"), visit(31, "bob", None)):
        driver.push("visits", found)
    driver.push("visits", visit(200, "ann"))
    assert driver.rows("absent_users") == [{"user": "ann", "seen": 2, "gone_at": 90_000}]
    driver.finish()
    assert driver.rows("absent_users")[1:] == [{"user": "ann", "seen": 1, "gone_at": 260_000}]
    assert driver.rows("rejected_visits") == [{"user": "bob", "why": "no page"}]
