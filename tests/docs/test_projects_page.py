"""The page on projects is read from top to bottom, and what it says is done."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.cli.shell import Cli
from tests.docs.pages import DOCS
from tests.docs.reader import BLOCK, Reader, prompted


def heard(stream: IO[str] | None, word: str) -> str:
    """Give what is said up to the line with a word."""
    assert stream is not None
    said = ""
    for line in stream:
        said += line
        if word in line:
            return said
    raise AssertionError(said)


@pytest.mark.soak  # the same commands are run by tests/cli/test_init.py and test_dev.py
def test_what_projects_md_says_is_done(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(capsys, monkeypatch)
    reader = Reader(cli)
    new, develop, records = BLOCK.findall((DOCS / "projects.md").read_text(encoding="utf-8"))
    reader.does(*new)
    ((command, shown),) = prompted(develop[1])
    shown = shown.replace("/home/ann", str(working_directory))
    # A port of its own, and without Spark, so that what is saved has nothing to rebuild yet.
    words = [*command.split()[1:], "--port", "0", "--no-jobs"]
    with subprocess.Popen(
        [sys.executable, "-m", "penstock", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            said = heard(process.stdout, "http://")
            reader.does(*records)
            program = Path("people.py")
            program.write_text(program.read_text().replace("1 minute", "2 minutes"))
            said += heard(process.stdout, "version 2 now")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
    assert lines(shown) <= lines(said)
    assert "ann" in cli.ok("consume", "clicks", "--no-wait").out


def lines(text: str) -> set[str]:
    """What was said, but for the port, the verdict."""
    return {re.sub(r"(?<=127\.0\.0\.1:)\d+| \(\w+\)$", "", line) for line in text.splitlines()}
