from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import Opened

Take = Callable[[Page, str], Path]


def test_navigation_is_there_at_1280_pixels_and_in_a_drawer_on_a_phone(opened: Opened) -> None:
    wide = opened("/topics")
    current = wide.get_by_role("navigation", name="Pages").get_by_role("link", name="Topics")
    expect(current).to_be_visible()
    expect(current).to_have_attribute("aria-current", "page")
    phone = opened("/topics", phone=True)
    link = phone.get_by_role("navigation", name="Pages").get_by_role("link", name="Alerts")
    expect(link).not_to_be_in_viewport()
    phone.get_by_role("button", name="Show or hide the navigation").click()
    expect(link).to_be_in_viewport()
    link.click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Alerts")


def test_the_mode_is_that_of_the_system_and_a_choice_is_remembered(opened: Opened) -> None:
    page = opened("/schemas", dark=True)
    expect(page.locator("body")).to_have_class("desktop no-touch body--dark")
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_text("Light", exact=True).click()
    expect(page.locator("body")).to_have_class("desktop no-touch body--light")
    page.wait_for_function("document.cookie.includes('penstock-mode=light')")
    page.reload()
    expect(page.locator("body")).to_have_class("desktop no-touch body--light")


def test_the_keyboard_reaches_skip_link_navigation_and_main_actions(opened: Opened) -> None:
    page = opened("/topics/views")
    expect(page.get_by_role("button", name="Produce a record")).to_be_visible()
    expect(page.get_by_role("button", name="Show record at offset").first).to_be_visible()
    seen = []
    for _ in range(24):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label')"
                " || document.activeElement.textContent.trim()"
            )
        )
    assert seen[0] == "Skip to main content"
    places = [next(n for n, said in enumerate(seen) if word in said) for word in (
        "Show or hide", "Light or dark", "Topics", "Alerts", "Produce a record",
    )]  # fmt: skip
    assert places == sorted(places)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_a_page_that_is_not_there_says_so_in_our_words(opened: Opened, server: str) -> None:
    page = opened("/no-such-page")
    expect(page.get_by_role("alert")).to_contain_text('There is no page "/no-such-page"')
    expect(page.get_by_role("alert")).to_contain_text("PAGE_MISSING")
    answer = httpx.get(f"{server}/no-such-page")
    assert (answer.status_code, answer.json()["code"]) == (404, "PAGE_MISSING")


def test_a_page_that_fails_shows_the_coded_error_and_no_trace(opened: Opened) -> None:
    page = opened("/topics/vews")
    panel = page.get_by_role("alert")
    expect(panel).to_contain_text("TOPIC_MISSING")
    expect(panel).to_contain_text('Did you mean "views"?')
    assert "Traceback" not in page.content()


@pytest.mark.parametrize("path", ["/", "/topics", "/topics/views", "/schemas", "/dead-letters",
                                  "/alerts"])  # fmt: skip
def test_pages_fit_a_phone_in_the_dark(opened: Opened, picture: Take, path: str) -> None:
    page = opened(path, phone=True, dark=True)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    name = path.strip("/").replace("/", "-") or "home"
    picture(page, f"{name}-phone-dark")
