from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from penstock.cli.options import TopicArgument, complete_topic

pytestmark = pytest.mark.slow

HEAVY = "{'numpy', 'pandas', 'polars', 'pyarrow', 'pyspark'}"


def a_context(home: Path | None) -> typer.Context:
    application = typer.Typer()

    @application.command()
    def show(topic: TopicArgument, home: str = "") -> None: ...

    context = typer.Context(typer.main.get_command(application))
    context.params = {"home": str(home) if home else None}
    return context


def a_log(home: Path, *topics: str) -> None:
    for topic in topics:
        (home / "log" / "topics" / topic).mkdir(parents=True)


def test_a_topic_is_completed_from_the_directories_of_the_log(tmp_path: Path) -> None:
    a_log(tmp_path, "pageviews", "users", "pages")
    (tmp_path / "log/topics/page.tmp").touch()
    assert complete_topic(a_context(tmp_path), "pa") == ["pages", "pageviews"]


def test_a_topic_is_completed_from_the_log_of_the_working_directory(
    working_directory: Path,
) -> None:
    a_log(working_directory / ".penstock", "avg")
    assert complete_topic(a_context(None), "") == ["avg"]


def test_where_there_is_no_log_nothing_is_completed(tmp_path: Path) -> None:
    assert complete_topic(a_context(tmp_path), "") == []


def test_a_broken_settings_file_does_not_break_completion(working_directory: Path) -> None:
    (working_directory / "penstock.toml").write_text("hoem = 1\n")
    assert complete_topic(a_context(None), "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_gets_topics_without_a_heavy_import(tmp_path: Path, shell: str) -> None:
    a_log(tmp_path, "avg", "users")
    (tmp_path / "show_command.py").write_text(
        "from penstock.cli.options import TopicArgument\n"
        "def show(topic: TopicArgument): ...\n"
        "def register(app): app.command('show')(show)\n"
    )
    script = (
        "import atexit, sys\n"
        "from penstock.cli import main\n"
        "main.COMMANDS['show'] = 'show_command'\n"
        f"atexit.register(lambda: print('heavy', {HEAVY} & set(sys.modules), file=sys.stderr))\n"
        "main.run([])\n"
        "sys.exit(0)\n"
    )
    words = "penstock show a"
    environment = os.environ | {
        "PENSTOCK_HOME": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
        "COMP_WORDS": words,
        "COMP_CWORD": "2",
        "_PENSTOCK_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=False,
        env=environment,
        text=True,
    )
    assert "avg" in done.stdout
    assert "users" not in done.stdout
    assert done.stderr == "heavy set()\n"
