from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, replayed

pytestmark = pytest.mark.slow


def test_every_block_of_the_page_on_formats_prints_what_it_says() -> None:
    page = "formats.md"
    assert replayed(page) == (DOCS / page).read_text(encoding="utf-8")
