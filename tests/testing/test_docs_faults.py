"""The page about the fault kit says only what runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing-faults.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.py)\n")


@pytest.mark.kill
def test_the_code_of_the_page_runs(working_directory: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text())
    assert len(blocks) >= 6
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        named = FILE_NAME.match(block)
        if named:
            (working_directory / named[1]).write_text(block)
        else:
            exec(compile(block, str(PAGE), "exec"), names)
