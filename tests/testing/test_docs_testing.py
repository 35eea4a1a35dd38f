"""The page about testing says only what runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.driver import TestDriver

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page_runs(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text()
    for name, content in YAML.findall(text):
        (working_directory / name).write_text(content)
    blocks = PYTHON.findall(text)
    assert len(blocks) >= 9
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    names["test_views_are_counted"](TestDriver)
    assert capsys.readouterr().out == "".join(PRINTED.findall(text))
