from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, replayed

pytestmark = pytest.mark.slow


def test_every_block_of_the_page_on_state_prints_what_it_says() -> None:
    assert replayed("state.md") == (DOCS / "state.md").read_text(encoding="utf-8")
