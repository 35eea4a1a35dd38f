from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, replayed

pytestmark = pytest.mark.slow


def test_every_block_of_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert replayed("kafka-streams.md") == (DOCS / "kafka-streams.md").read_text(encoding="utf-8")
