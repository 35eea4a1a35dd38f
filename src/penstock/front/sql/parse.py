"""SQL text read: scripts, statements, expressions.

The grammar is loaded with the first text and kept. What cannot be read is refused with its
place, what was expected there, and a guess at what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from penstock.errors import SqlError
from penstock.front.sql.lex_split import split_script
from penstock.front.sql.parse_branch import span_of
from penstock.front.sql.parse_grammar import load_grammar
from penstock.front.sql.parse_statement import StatementBuilder
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.substitute import substituted
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_statement import Define, Statement, Undefine

if TYPE_CHECKING:
    from penstock.front.sql.parse_grammar import Branch

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
DEEPEST = 150
"""How deep a statement may be nested: trees are walked by functions that call themselves."""

_CHAINED = frozenset({"any", "all"})


def parse_script(text: str, variables: Mapping[str, str] = NO_VARIABLES) -> tuple[Statement, ...]:
    """Read all statements of a script; DEFINE holds for those after it."""
    return tuple(_statements(text, variables))


def parse_statement(text: str, variables: Mapping[str, str] = NO_VARIABLES) -> Statement:
    """Read a text that holds one statement; its semicolon may be left out."""
    pieces = list(split_script(_plain(text)))
    if len(pieces) != 1:
        raise SqlError(
            "SQL_STATEMENTS",
            f"a text holds {len(pieces)} statements where one is wanted",
            hint="Give one statement, or run the text as a script.",
        )
    return _statement(pieces[0], variables)


def parse_expression(text: str) -> Expression:
    """Read a text that holds one expression."""
    source = SourceText(_plain(text))
    return StatementBuilder(source).expression(_read(source, "expression"))


def _statements(text: str, variables: Mapping[str, str]) -> Iterator[Statement]:
    known = {name.upper(): value for name, value in variables.items()}
    for piece in split_script(_plain(text)):
        statement = _statement(piece, known)
        if isinstance(statement, Define):
            known[statement.name.text.upper()] = statement.value
        elif isinstance(statement, Undefine):
            known.pop(statement.name.text.upper(), None)
        yield statement


def _plain(text: str) -> str:
    """Give a text without the mark that some editors put before it."""
    return text.removeprefix("\ufeff")


def _statement(piece: SourceText, variables: Mapping[str, str]) -> Statement:
    source = substituted(piece, variables)
    return StatementBuilder(source).statement(_read(source, "statement"))


def _read(source: SourceText, start: str) -> Branch:
    from lark.exceptions import UnexpectedToken  # noqa: PLC0415  # most programs never read SQL

    from penstock.front.sql.parse_error import refusal  # noqa: PLC0415

    try:
        branch = load_grammar().parse(source.text, start=start)
    except UnexpectedToken as unexpected:
        raise refusal(source, start, unexpected.token) from None
    _check_depth(source, branch)
    return branch


def _check_depth(source: SourceText, branch: Branch) -> None:
    waiting = [(branch, 0)]
    while waiting:
        parent, depth = waiting.pop()
        if depth > DEEPEST:
            raise SqlError(
                "SQL_DEPTH",
                source.shown(f"this is nested more than {DEEPEST} deep", _first(parent)),
                hint="Compute parts of it in statements of their own.",
            )
        for part in parent.children:
            if part is None or isinstance(part, str):
                continue
            # A chain of AND or OR becomes one node, however long it is.
            chained = parent.data in _CHAINED and part.data == parent.data
            waiting.append((part, depth if chained else depth + 1))


def _first(branch: Branch) -> Span:
    start = span_of(branch).start
    return Span(start, start + 1)
