from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest
from typing_extensions import override

from penstock.cli.output import (
    decorated,
    examples,
    report,
    talk,
    waiting,
    write_json,
    write_table,
)
from penstock.errors import TopicError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    @override
    def isatty(self) -> bool:
        return True


@contextmanager
def a_terminal() -> Iterator[Terminal]:
    """Put a terminal in the place of stdout and stderr."""
    stream = Terminal()
    with redirect_stdout(stream), redirect_stderr(stream):
        yield stream


@pytest.fixture(autouse=True)
def _colour_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")


def test_data_goes_to_stdout_and_talk_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"ä": 1})
    talk("by the way")
    captured = capsys.readouterr()
    assert captured.out == '{"ä": 1}\n'
    assert captured.err == "by the way\n"


def test_a_pipe_gets_every_character_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(("topic", "n"), [("a" * 300, 1), ("b", 20)])
    head, first, second = capsys.readouterr().out.splitlines()
    assert head == "topic" + " " * 297 + "n"
    assert first == "a" * 300 + "  1"
    assert second == "b" + " " * 301 + "20"


def test_a_table_without_rows_still_names_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(("topic", "partitions"), [])
    assert capsys.readouterr().out == "topic  partitions\n"


def test_a_terminal_gets_a_table_that_fits_and_brackets_as_they_are() -> None:
    with a_terminal() as terminal:
        write_table(("master", "text"), [("local[*]", "[red]" + "x" * 60)])
    lines = terminal.getvalue().splitlines()
    assert "local[*]" in lines[1]
    assert "[red]" in lines[1]
    assert len(lines) == 4


def test_json_for_a_person_is_indented_and_the_same_document() -> None:
    with a_terminal() as terminal:
        write_json([{"a": 1}])
    assert terminal.getvalue().count("\n") > 1
    assert json.loads(terminal.getvalue()) == [{"a": 1}]


@pytest.mark.parametrize(("variable", "word"), [("", "\x1b[1;31merror\x1b[0m"), ("1", "error")])
def test_an_error_is_red_on_a_terminal_unless_no_color_is_set(
    variable: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    with a_terminal() as terminal:
        report(TopicError("TOPIC_MISSING", "gone"))
    assert terminal.getvalue() == f"{word} [TOPIC_MISSING] gone\n"


def test_a_pipe_is_never_decorated() -> None:
    assert not decorated(io.StringIO())
    assert decorated(Terminal())


def test_a_pipe_sees_no_spinner(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("working"):
        pass
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_terminal_sees_a_spinner() -> None:
    with a_terminal() as terminal, waiting("working"):
        pass
    assert "working" in terminal.getvalue()


def test_examples_keep_their_brackets_in_rich_help() -> None:
    with a_terminal():
        assert examples("penstock doctor --master local[1]").endswith(r"--master local\[1]")
