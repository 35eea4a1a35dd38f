from __future__ import annotations

from pathlib import Path

from penstock.serve.limits import Limits
from penstock.serve.pages import declared

PAGES = Path(declared.__file__).parent


def test_it_is_the_server_that_ends_a_page_that_takes_too_long() -> None:
    assert declared.declared("/slow").response_timeout > Limits().seconds


def test_every_page_is_declared_so() -> None:
    own = {file.name for file in PAGES.glob("*.py") if "@ui.page(" in file.read_text()}
    assert own == set()
