from __future__ import annotations

import re
import subprocess
from itertools import takewhile
from pathlib import Path

from penstock.sql.answer import Followed
from penstock.sql.session import SqlSession
from tests.cli.shell import Cli

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
BLOCK = re.compile(r"```(sh|sql)\n(.*?)```", re.DOTALL)
# Commands of a block are written down by the shell that reads them, and run in this process.
RECORDER = """set -eu
penstock() { printf '%s\\0' "$@" >> commands; printf '\\n\\0' >> commands; }
"""


def commands_of(block: str) -> list[tuple[str, ...]]:
    """Let a shell do what a block says but for `penstock`; give the words of each such command."""
    written = Path("commands")
    written.unlink(missing_ok=True)
    subprocess.run(["bash", "-c", RECORDER + block], check=True, timeout=20)
    if not written.exists():
        return []
    commands = written.read_text().split("\n\0")[:-1]
    return [tuple(command.split("\0")[:-1]) for command in commands]


def run_statements(text: str) -> None:
    """Carry out statements in one session; a query that goes on is followed as far as it gets."""
    with SqlSession(Path(".penstock"), here=True) as session:
        for answer in session.run(text):
            if isinstance(answer, Followed):
                list(takewhile(lambda row: row is not None, answer.rows))


def test_every_block_of_the_page_on_sql_runs_as_it_stands(
    cli: Cli, working_directory: Path
) -> None:
    said = ""
    for kind, block in BLOCK.findall(PAGE.read_text()):
        if kind == "sql":
            run_statements(block)
            continue
        for words in commands_of(block):
            said += cli.ok(*words).out
    assert "milk  1" in said
