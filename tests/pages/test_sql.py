from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from penstock.errors import PenstockError
from penstock.serve.access.role import Role
from penstock.serve.pages.asking import require_for
from penstock.serve.pages.sql_completion import install_script
from penstock.serve.pages.statement_place import chosen_text, place_of
from penstock.sql.script import pieces_of, read_piece
from tests.pages.conftest import Opened
from tests.pages.work_home import Work

TEXT = "SHOW STREAMS;\n\n  SHOW TABLES;\nSELECT 1"


def test_the_statement_at_the_cursor_is_meant_or_the_selection() -> None:
    assert chosen_text(TEXT, 3, 3).strip().rstrip(";") == "SHOW STREAMS"
    assert chosen_text(TEXT, 20, 20).strip().rstrip(";") == "SHOW TABLES"
    assert chosen_text(TEXT, 20, 20).index("SHOW") == 4
    assert chosen_text(TEXT, len(TEXT), len(TEXT)).strip() == "SELECT 1"
    assert chosen_text(TEXT, 5, 12).strip() == "STREAMS"


def test_the_place_that_an_error_names_is_found() -> None:
    assert place_of("line 3, column 8: nothing is called so", TEXT) == (3, 22)
    assert place_of("line 9, column 1: beyond", TEXT) is None
    assert place_of("no place", TEXT) is None


def test_a_reader_may_look_and_not_write() -> None:
    look, write = (read_piece(piece, {}) for piece in pieces_of("SHOW STREAMS; DROP STREAM s;"))
    require_for(look, Role.READER)
    with pytest.raises(PenstockError, match="ROLE_NEEDED"):
        require_for(write, Role.READER)
    require_for(write, Role.WRITER)


def test_words_cannot_end_the_script() -> None:
    assert "</script>" not in install_script(7, [{"label": "</script>"}])


def write(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def test_statements_are_written_run_and_remembered(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/sql", url=work_server)
    expect(page.get_by_role("textbox", name="Statements of SQL")).to_be_visible()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type("SELECT pag", delay=30)
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("PAGE")
    page.keyboard.press("Escape")
    write(page, "DESCRIBE clicks;")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-result]")).to_contain_text("BIGINT")
    write(page, "SHOW STREAMS;\nSELECT nonsense FROM clicks EMIT CHANGES;")
    page.keyboard.press("Control+Enter")
    alert = page.locator("[data-result]").get_by_role("alert")
    expect(alert).to_contain_text("line 2, column 8")
    expect(page.locator(".ps-wrong-word")).to_have_text("nonsense")
    picture(page, "sql-error-light")
    page.get_by_role("button", name="History").click()
    page.locator(".ps-past .q-item", has_text="DESCRIBE clicks").click()
    expect(page.locator(".cm-content")).to_contain_text("DESCRIBE clicks")


def test_a_push_query_is_followed_and_stopped(opened: Opened, work_server: str, work: Work) -> None:
    page = opened("/sql", url=work_server)
    write(page, "SELECT user, ms FROM clicks EMIT CHANGES;")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("[data-status]")).to_contain_text("following")
    work.say("INSERT INTO clicks VALUES ('eve', '/', 77);")
    expect(page.get_by_role("cell", name="eve")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("[data-status]")).to_contain_text("stopped")
    write(page, "SELECT user, ms FROM clicks EMIT CHANGES;")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("[data-told]")).to_contain_text("clicks")


def test_any_select_is_answered_now_and_drawn(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/sql?mode=now", url=work_server)
    write(page, "SELECT region, count(*) AS views FROM page_views GROUP BY region ORDER BY 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-status]")).to_contain_text("5 rows, as of page_views-0@")
    expect(page.get_by_role("cell", name="Centre")).to_be_visible()
    page.get_by_role("button", name="Bar").click()
    expect(page.locator("[data-result] canvas")).to_be_visible()
    picture(page, "sql-light")


def test_the_workbench_fits_a_phone_in_the_dark(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened(
        "/sql?mode=now&query=SELECT%201%20AS%20one", url=work_server, phone=True, dark=True
    )
    expect(page.locator(".cm-content")).to_contain_text("SELECT 1 AS one")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("[data-status]")).to_contain_text("1 row")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "sql-phone-dark")
