from __future__ import annotations

from pathlib import Path

import pytest

from examples.guide import IMAGES, draw
from tests.docs.pages import DOCS, replayed

pytestmark = pytest.mark.slow


def test_every_block_of_the_guide_prints_what_it_says() -> None:
    assert replayed("guide.md") == (DOCS / "guide.md").read_text(encoding="utf-8")


def test_the_pictures_of_the_guide_are_those_of_its_programs(tmp_path: Path) -> None:
    for drawn in draw(tmp_path):
        kept = (IMAGES / drawn.name).read_text(encoding="utf-8")
        assert drawn.read_text(encoding="utf-8") == kept, "run `python -m examples.guide`"


def test_every_picture_that_is_shown_exists() -> None:
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    for name in ("what", "where", "sessions", "when"):
        assert f"img/guide-{name}.svg" in text
        assert (IMAGES / f"guide-{name}.svg").exists()
