"""The grammar as people read it: keywords bare, small rules in their places, no tree's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from penstock.front.sql.lex_words import GRAMMAR

_SECTION = re.compile(r"// --- (\w+) -+")
_RULE = re.compile(r"[?!]?([a-z_]+):\s*(.*)", re.DOTALL)
_ALIAS = re.compile(r"\s*->\s*[a-z_]+(?=\s*(\||$|\)|\n))")
_PIECE = re.compile(r'"((?:[^"\\]|\\.)+)"|([a-z_]+)|([A-Z][A-Z_]+)|(\s+)|(.)', re.DOTALL)
_WORDS: Mapping[str, str] = {
    "TEXT": "'text'",
    "DOLLAR_TEXT": "$$text$$",
    "INTEGER": "number",
    "DECIMAL": "1.5",
    "DOUBLE": "1.5E0",
    "IDENTIFIER": "word",
    "DIGIT_IDENTIFIER": "1word",
    "QUOTED": '"word"',
    "BACKQUOTED": "`word`",
    "LAMBDA_OPEN": "'('",
    "STRING": "STRING",
}
_LONGEST = 60
"""A rule that is no longer, and names no other, is shown where it is used."""


@cache
def sections() -> Mapping[str, Mapping[str, str]]:
    """Give the rules of each section of the grammar: what stands for what, as text."""
    found: dict[str, dict[str, str]] = {}
    section = ""
    for part in _parts():
        heading = _SECTION.match(part)
        if heading is not None:
            section = heading[1]
            found[section] = {}
        rule = _RULE.match(part)
        if rule is not None and section:
            found[section][rule[1]] = _ALIAS.sub("", rule[2])
    return found


def _parts() -> Iterator[str]:
    """Give the lines of the grammar, those of one rule joined."""
    held = ""
    for line in GRAMMAR.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if line.startswith((" ", "\t")):
            held += f"\n{line.strip()}"
            continue
        yield held
        held = line
    yield held


def statement_names() -> tuple[str, ...]:
    """Give the rules of all statements, in the order of the grammar."""
    return tuple(re.findall(r"[a-z_]+", _rules()["statement"]))


def rule_names(section: str) -> tuple[str, ...]:
    """Give the rules of a section that are shown by themselves."""
    small = _small()
    return tuple(name for name in sections()[section] if name not in small)


def rule_text(name: str) -> str:
    """Give what a rule stands for, in lines of one alternative each."""
    body = _rules()[name]
    return "\n".join(_shown(line) for line in body.splitlines())


@cache
def _rules() -> Mapping[str, str]:
    return {name: body for rules in sections().values() for name, body in rules.items()}


@cache
def _small() -> Mapping[str, str]:
    """Give the rules that are shown where they are used."""
    kept = {"name", *statement_names()}
    return {name: body for name, body in _rules().items() if name not in kept and _is_small(body)}


def _is_small(body: str) -> bool:
    named = [found[2] for found in _PIECE.finditer(body) if found[2]]
    return not named and len(body) <= _LONGEST and "\n" not in body


def _shown(line: str) -> str:
    small = _small()
    made: list[str] = []
    for found in _PIECE.finditer(line):
        literal, rule, token, space, other = found.groups()
        if literal is not None:
            made.append(literal if literal.isalpha() or "_" in literal else f"'{literal}'")
        elif rule is not None:
            made.append(_grouped(small[rule]) if rule in small else rule)
        elif token is not None:
            made.append(_WORDS[token])
        else:
            made.append(" " if space else other)
    return "".join(made).strip()


def _grouped(body: str) -> str:
    text = _shown(body)
    return f"({text})" if " | " in text else text
