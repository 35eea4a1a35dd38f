"""The page of examples shows what they print."""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module

import pytest

from tests.docs.pages import DOCS

pytestmark = pytest.mark.slow

PAGE = DOCS / "examples.md"
SHOWN = re.compile(
    r"^```sh\n(?:printf '(?P<typed>[^']*)' \| )?python -m (?P<module>\S+)\n```\n"
    r"```text\n(?P<told>.*?)```$",
    re.DOTALL | re.MULTILINE,
)


def printed(module: str, typed: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What an example prints, run as a command without arguments."""
    monkeypatch.setattr(sys, "argv", [module])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed.replace("\\n", "\n")))
    output = io.StringIO()
    with redirect_stdout(output):
        import_module(module).main()
    return output.getvalue()


def test_every_example_of_the_page_prints_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = list(SHOWN.finditer(text))
    assert len(found) == len(re.findall(r"^```sh$", text, re.MULTILINE)) >= 6
    for shown in found:
        told = printed(shown["module"], shown["typed"] or "", monkeypatch)
        assert told == shown["told"], shown["module"]
