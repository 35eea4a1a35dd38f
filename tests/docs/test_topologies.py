from __future__ import annotations

from tests.docs.pages import DOCS, replayed


def test_every_block_of_the_page_on_topologies_prints_what_it_says() -> None:
    page = "topologies.md"
    assert replayed(page) == (DOCS / page).read_text(encoding="utf-8")
