from __future__ import annotations

from pathlib import Path

import pytest

from examples.join_guide import IMAGES, PICTURES, draw
from tests.docs.pages import DOCS, replayed

pytestmark = pytest.mark.slow


def test_every_block_of_the_page_prints_what_it_says() -> None:
    assert replayed("joins.md") == (DOCS / "joins.md").read_text(encoding="utf-8")


def test_the_pictures_of_the_page_are_those_of_its_programs(tmp_path: Path) -> None:
    text = (DOCS / "joins.md").read_text(encoding="utf-8")
    for drawn in draw(tmp_path):
        kept = (IMAGES / drawn.name).read_text(encoding="utf-8")
        assert drawn.read_text(encoding="utf-8") == kept, "run `python -m examples.join_guide`"
    assert all(f"img/{name}.svg" in text for name in PICTURES)
