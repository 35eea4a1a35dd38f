"""The grammar, loaded once and only when something is to be read."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from penstock.front.sql.lex_words import GRAMMAR
from penstock.front.sql.parse_tables import parser_of_tables

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    Branch: TypeAlias = Tree[Token]
    Child: TypeAlias = Branch | Token | None

STARTS = ("statement", "expression")


@cache
def load_grammar() -> Lark:
    """Give the parser, by the tables that were made for its grammar."""
    from penstock.front.sql.lex import SqlLexer  # noqa: PLC0415  # most programs never read SQL

    return parser_of_tables(SqlLexer) or build_grammar()


def build_grammar() -> Lark:
    """Make the parser of its grammar, which takes over a second."""
    from lark import Lark  # noqa: PLC0415  # most programs never read SQL

    from penstock.front.sql.lex import SqlLexer  # noqa: PLC0415

    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer=SqlLexer,
        start=list(STARTS),
        propagate_positions=True,
        maybe_placeholders=True,
    )
