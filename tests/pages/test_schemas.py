from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from penstock.serve.pages.schema_diff import Pair, schema_lines, side_by_side
from tests.pages.conftest import Opened

Take = Callable[[Page, str], Path]


def test_lines_that_differ_stand_beside_one_another() -> None:
    pairs = list(side_by_side(["a", "b", "c"], ["a", "x", "c", "d"]))
    assert pairs == [
        Pair("same", "a", "a"),
        Pair("changed", "b", "x"),
        Pair("same", "c", "c"),
        Pair("added", None, "d"),
    ]
    assert schema_lines('{"a":1}') == ["{", '  "a": 1', "}"]
    assert schema_lines("message A {}\n") == ["message A {}"]


def test_two_versions_are_shown_side_by_side(opened: Opened, picture: Take) -> None:
    page = opened("/schemas")
    page.get_by_role("link", name="views-value").click()
    expect(page.get_by_text("5 lines differ")).to_be_visible()
    assert page.locator(".ps-diff-line.added").count() == 5
    picture(page, "schemas")


def test_a_new_version_is_checked_and_the_level_is_set_after_a_question(opened: Opened) -> None:
    page = opened("/schemas/users-value")
    page.get_by_text("Try a new version").click()
    page.get_by_label("Schema", exact=True).fill('{"type": "long"}')
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("compatibility: 'BACKWARD'")).to_be_visible()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("SCHEMA_INCOMPATIBLE")).to_be_visible()
    page.get_by_label("Compatibility").click()
    page.get_by_role("option", name="NONE").click()
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_text("new versions must be NONE")).to_be_visible()


def test_a_subject_that_is_not_there_is_told(opened: Opened) -> None:
    page = opened("/schemas/nobody-value")
    expect(page.get_by_role("alert")).to_contain_text("SUBJECT_MISSING")
