from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.pages.conftest import Opened

Take = Callable[[Page, str], Path]


def test_rules_show_what_fires_and_are_silenced_and_told_again(
    opened: Opened, picture: Take
) -> None:
    page = opened("/alerts")
    rule = page.get_by_role("region", name="Rule much-traffic")
    expect(rule).to_contain_text("on stream views, when ms > 990")
    expect(rule).to_contain_text("firing", timeout=20_000)
    expect(page.get_by_text("watched", exact=True)).to_be_visible()
    picture(page, "alerts")
    page.get_by_role("button", name="Silence nobody-buys").click()
    page.get_by_text("for 1h").click()
    calm = page.get_by_role("region", name="Rule nobody-buys")
    expect(calm).to_contain_text("silent until")
    calm.get_by_role("button", name="End silence").click()
    expect(calm).not_to_contain_text("silent until")


def test_rules_that_cannot_be_read_are_refused_on_the_page(opened: Opened, project: Path) -> None:
    file = project / "shop" / "watch" / "rules.json"
    kept = file.read_bytes() if file.exists() else None
    file.write_text('{"odd": {"when": 7}}')
    try:
        page = opened("/alerts")
        panel = page.get_by_role("alert")
        expect(panel).to_contain_text("ALERT_RULE")
        assert "Server error" not in page.content()
    finally:
        if kept is None:
            file.unlink()
        else:
            file.write_bytes(kept)
