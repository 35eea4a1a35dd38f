from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from penstock.cli.main import COMMANDS, application

# What changes something has no answer that a program would read.
WRITES = {
    "dev",
    "dlq replay",
    "groups delete",
    "init",
    "jobs stop",
    "kafka down",
    "produce",
    "run",
    "schemas delete",
    "schemas generate",
    "topics clean",
    "topics create",
    "topics delete",
    "topics set",
    "transactions abort",
}


def commands(
    node: Any,  # noqa: ANN401  # typer keeps the types of its commands to itself
    path: tuple[str, ...] = (),
) -> Iterator[tuple[str, Any]]:
    """Every command and group with its words."""
    yield " ".join(path), node
    for name, child in getattr(node, "commands", {}).items():
        yield from commands(child, (*path, name))


ALL = dict(commands(typer.main.get_command(application())))
LEAVES = {
    words: node
    for words, node in ALL.items()
    # A group may be a command, too, as `serve` is beside `serve token`.
    if not hasattr(node, "commands") or node.invoke_without_command
}


def example_words(epilog: str) -> list[list[str]]:
    """The words after `penstock` in each example, up to the next pipe."""
    return [match.split() for match in re.findall(r"penstock ((?:[^|\n]|\|\|)*)", epilog)]


def test_every_file_of_commands_registers_what_it_is_named_for() -> None:
    assert set(ALL[""].commands) == set(COMMANDS)


@pytest.mark.parametrize("words", ALL)
def test_every_help_says_what_for_and_ends_with_examples(words: str) -> None:
    node = ALL[words]
    assert node.help or node.callback.__doc__
    assert "Examples:" in (node.epilog or "")
    examples = example_words(node.epilog)
    assert examples
    for example in examples:
        assert _command_of(example) in LEAVES, example
    assert any(_command_of(example).startswith(words) for example in examples)


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_that_reads_can_answer_in_json(words: str) -> None:
    flags = {flag for parameter in LEAVES[words].params for flag in parameter.opts}
    assert ("--json" in flags) or (words in WRITES)


def test_every_command_that_writes_is_one() -> None:
    assert sorted(WRITES - set(LEAVES)) == []


@pytest.mark.parametrize("words", LEAVES)
def test_every_parameter_says_what_it_is_for(words: str) -> None:
    assert [p.name for p in LEAVES[words].params if not getattr(p, "help", "")] == []


def _command_of(example: list[str]) -> str:
    """The longest command that an example begins with."""
    starts = [" ".join(example[:n]) for n in (3, 2, 1) if " ".join(example[:n]) in ALL]
    return starts[0] if starts else ""
