from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.survey import ROOT

pytestmark = pytest.mark.slow

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of the page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def runnable(block: str) -> str:
    """The commands of a block that use Penstock; the environment is there already.

    Installing completion asks which shell the user sits in: here that may be make's own.
    """
    lines = block.splitlines(keepends=True)
    return "".join(
        line for line in lines if "penstock " in line and "--install-completion" not in line
    )


def run(command: list[str], folder: Path) -> str:
    environment = os.environ | {
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SHELL": "/bin/bash",
    }
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        check=False,
        env=environment,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_five_minutes_go_as_written(tmp_path: Path) -> None:
    script = "\n".join(runnable(block) for block in blocks("sh"))
    shown = run(["bash", "-euo", "pipefail", "-c", script], tmp_path)
    assert re.findall(r"^\d+$", shown, re.MULTILINE) == ["3", "5", "10"]
    *_, last = blocks("python")
    assert "3 b'12'" in run([sys.executable, "-c", last], tmp_path)


def test_the_program_of_the_page_counts(tmp_path: Path) -> None:
    *program, _ = blocks("python")
    shown = run([sys.executable, "-c", "\n".join(program)], tmp_path)
    assert "where tumbling 1m" in shown
    assert "'pageid': 'home'" in shown
    assert "'views': 1, 'people': 1" in shown


def test_the_statements_of_the_page_are_statements(tmp_path: Path) -> None:
    (statements,) = blocks("sql")
    (tmp_path / "page.sql").write_text(statements)
    run([sys.executable, "-m", "penstock", "sql", "--check", "page.sql"], tmp_path)
