"""The page docs/queries.md, run as it stands."""

from __future__ import annotations

import re
import shlex

import pytest

from penstock.cli.main import run
from tests.docs.pages import DOCS, replayed

PAGE = DOCS / "queries.md"


@pytest.mark.usefixtures("working_directory")
def test_the_page_about_queries_is_as_it_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (made,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in made.splitlines():
        assert run(shlex.split(line)[1:]) == 0
    capsys.readouterr()
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            words = shlex.split(command)
            if words[0] == "penstock":
                assert run(words[1:]) == 0
                assert capsys.readouterr().out == shown, command
    assert replayed("queries.md") == text
