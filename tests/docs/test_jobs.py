from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from penstock.jobs.said_settings import file_settings
from penstock.model.job_settings import JOB_SETTINGS
from tests.cli.shell import Cli
from tests.docs.pages import DOCS

PAGE = (DOCS / "jobs.md").read_text(encoding="utf-8").partition("\n## A job from")[2]
PAGE = PAGE.partition("\n## ")[0]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def run(cli: Cli, block: str) -> None:
    for line in block.splitlines():
        cli.ok(*shlex.split(line)[1:])


def test_the_commands_of_the_page_on_jobs_run_as_they_stand(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    cli = Cli(capsys, monkeypatch)
    program, *others = blocks("python")
    Path("shop.py").write_text(program)
    first, *more = blocks("sh")
    run(cli, first)
    for block in others:
        exec(compile(block, "jobs.md", "exec"), {})
    for block in more:
        run(cli, block)
    left = [job["name"] for job in cli.ok("jobs", "list", "--json").json]
    assert left == ["shop-again", "shop-test"]


def test_the_settings_of_the_page_on_jobs_are_settings() -> None:
    (text,) = blocks("toml")
    found = tomllib.loads(text)["jobs"]
    assert file_settings(JOB_SETTINGS, found, "shop").batch_rows == 100_000


def test_the_verbs_that_the_page_on_jobs_shows_are_verbs(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(capsys, monkeypatch)
    for verb in sorted(set(re.findall(r"\$ penstock jobs (\w+)", PAGE))):
        assert "Examples:" in cli.ok("jobs", verb, "--help").out
