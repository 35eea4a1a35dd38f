"""Runs the blocks of a page: each Python block, and the text block after it is what it prints."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:```text\n(?P<text>.*?)```\n)?", re.DOTALL)


def replayed(page: str) -> str:
    """Give a page with the outputs its blocks have today."""
    names: dict[str, object] = {"__name__": "page"}

    def run(found: re.Match[str]) -> str:
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(found["code"], page, "exec"), names)
        if found["text"] is None:
            assert not output.getvalue(), f"prints without a text block:\n{found['code']}"
            return found[0]
        printed = "\n".join(line.rstrip() for line in output.getvalue().splitlines())
        return f"```python\n{found['code']}```\n```text\n{printed}\n```\n"

    return _BLOCK.sub(run, (DOCS / page).read_text(encoding="utf-8"))
