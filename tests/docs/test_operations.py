"""The pages about running Penstock name commands that exist, with options that they have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from tests.docs.commands import problem as problem_of
from tests.docs.pages import DOCS, replayed

PAGES = ("alerts.md", "lineage.md", "metrics.md", "operations.md")


def commands(text: str) -> Iterator[str]:
    """Give what is written as a command: in blocks, and between backquotes."""
    for block in re.findall(r"```(?:console|sh)\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            yield line.removeprefix("$ ")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for span in re.findall(r"`(penstock [^`]*)`", prose):
        yield " ".join(span.split())


def problem(command: str) -> str:
    """Say what is wrong with a command; nothing where it could be run."""
    return problem_of(shlex.split(command)[1:])


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists(page: str) -> None:
    found = list(commands((DOCS / page).read_text(encoding="utf-8")))
    assert found
    assert [wrong for command in found if (wrong := problem(command))] == []


def test_a_command_that_does_not_exist_would_be_found() -> None:
    assert "no command flush" in problem("penstock jobs flush shop")
    assert "no option --fast" in problem("penstock jobs rewind shop --fast --to=end")
    assert problem("penstock --home x jobs list --json") == ""


def test_every_symptom_of_the_guide_is_in_its_list_and_leads_somewhere() -> None:
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    titles = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^## (.+)$", text, re.MULTILINE)
    }
    listed = set(re.findall(r"^- \[[^]]+\]\(#([^)]+)\)$", text, re.MULTILINE))
    linked = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert listed == titles
    assert linked <= titles


@pytest.mark.slow
@pytest.mark.parametrize("page", ["alerts.md", "lineage.md", "metrics.md"])
def test_every_block_of_a_page_prints_what_it_says(page: str) -> None:
    assert replayed(page) == (DOCS / page).read_text(encoding="utf-8")
