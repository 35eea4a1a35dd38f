"""Common mistakes: each is answered in a few lines that say what is wrong, and what to do."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.shell import Cli, shell
from tests.mistakes.catalogue import MISTAKES, Mistake
from tests.mistakes.workshop import Workshop

MOST_LINES = 12
STACK = re.compile(
    r"Traceback|^\s+at [\w.$]+\(|Caused by|Py4J|\bjava\.[a-z]+\.|File \"", re.MULTILINE
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_answered_shortly_with_a_fix(
    mistake: Mistake, cli: Cli, workshop: Workshop
) -> None:
    words = mistake.made(workshop)
    if mistake.alone:
        done = shell(shlex.join(("penstock", *words)))
        code, said = done.returncode, done.stderr
    else:
        ran = cli(*words, stdin=mistake.stdin)
        code, said = ran.code, ran.err
    assert code == mistake.exit, said
    assert len(said.splitlines()) <= MOST_LINES, said
    assert STACK.search(said) is None, said
    assert mistake.told in said
    assert fix_of(said), said


def fix_of(said: str) -> str:
    """Give what the answer says to do: the line below the fact, or what the usage adds."""
    if "error [" not in said:
        return " ".join(re.findall(r"Try '.*|Did you mean .*", said))
    last = said.rstrip().splitlines()[-1]
    return last if last.startswith("  ") else ""


def test_there_are_forty_and_no_two_are_the_same() -> None:
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 40


def test_no_code_says_that_it_is_a_defect() -> None:
    assert not [mistake.name for mistake in MISTAKES if "UNEXPECTED" in mistake.told]
