"""The commands that pages show, and whether they could be run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer.main

from penstock.cli.main import application, split_flags

_SETTING = re.compile(r"[A-Z_]+=")
_BLOCK = re.compile(r"^```(console|sh|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@cache
def root() -> Any:  # noqa: ANN401  # click's own tree
    """The command with all that is below it."""
    return typer.main.get_command(application())


def typed(text: str) -> Iterator[str]:
    """Give what the blocks of a page would let a user type: all lines, or those with a prompt."""
    for kind, block in _BLOCK.findall(text):
        lines = block.replace("\\\n", " ").splitlines()
        prompted = [line.strip()[2:] for line in lines if line.strip().startswith("$ ")]
        yield from prompted if kind == "console" else lines


def calls(line: str) -> Iterator[list[str]]:
    """Give the words of each call of `penstock` in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        # A quote that ends on a later line: pages with such blocks are run by tests of their own.
        return
    call: list[str] | None = None
    begins = True
    for word in [*words, ";"]:
        if set(word) <= set("|&;<>()"):
            if call:
                yield call
            call, begins = None, True
        elif call is not None:
            call.append(word)
        elif begins and Path(word).name == "penstock":
            call = []
        else:
            begins = begins and _SETTING.match(word) is not None


def problem(words: list[str]) -> str:
    """Say what is wrong with the words after `penstock`; nothing where they could be run."""
    command = " ".join(words)
    _, left = split_flags(words)
    node = root()
    while left and left[0] in getattr(node, "commands", {}):
        node = node.commands[left.pop(0)]
    if getattr(node, "commands", {}) and left and not left[0].startswith("-"):
        return f"{command}: no command {left[0]}"
    known = {
        flag for parameter in node.params for flag in (*parameter.opts, *parameter.secondary_opts)
    }
    flags = [word.partition("=")[0] for word in left if word.startswith("--")]
    unknown = [flag for flag in flags if flag not in known | {"--help"}]
    return f"{command}: no option {', '.join(unknown)}" if unknown else ""
