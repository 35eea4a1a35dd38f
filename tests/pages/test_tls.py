from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from penstock.log.open import open_log
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from tests.pages.serving import served
from tests.serve.certificates import make


def test_pages_are_live_over_tls_until_the_token_is_revoked(
    browser: Browser, tmp_path: Path
) -> None:
    made = make(tmp_path / "tls")
    home = tmp_path / "home"
    with open_log(home) as log:
        log.create_topic("clicks")
        tokens = TokenFile(home)
        # Without any token a server of this machine alone asks nobody.
        tokens.create("operator", Role.ADMIN)
        word = tokens.create("ada", Role.WRITER)
        files = (f"--tls-certificate={made.certificate}", f"--tls-key={made.key}")
        with served(home, tmp_path, "--no-jobs", *files) as url:
            context = browser.new_context(ignore_https_errors=True)
            page = context.new_page()
            page.goto(f"{url}/topics")
            page.get_by_label("token").fill(word)
            page.keyboard.press("Enter")
            expect(page.get_by_role("link", name="clicks")).to_be_visible()
            assert all(cookie["secure"] for cookie in context.cookies())
            # It moves by itself: the page has its connection.
            log.create_topic("orders")
            expect(page.get_by_role("link", name="orders")).to_be_visible(timeout=15_000)
            tokens.revoke("ada")
            expect(page.get_by_text("Connection lost")).to_be_visible(timeout=15_000)
            log.create_topic("unseen")
            page.reload()
            expect(page.get_by_label("token")).to_be_visible()
            assert not page.get_by_text("unseen").count()
            context.close()
