"""Words and signs of a SQL text, each read as the grammar can take it where it stands.

SQL has many keywords that are also good names: key, type, date, rows. A word is taken for a
keyword where the parser, in the state it is in, can go on with one; where it can go on with a
name as well, the word after it decides (`order` is a keyword only before `BY`). Only the
`RESERVED` words are never names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark.common import LexerConf
from lark.lexer import Lexer, LexerState, PatternStr, Token
from lark.parsers.lalr_analysis import Shift
from typing_extensions import override

from penstock.front.sql.lex_words import KEYWORD_BEFORE, RESERVED

UNREADABLE = "UNREADABLE"
"""The type of a token that begins with what no word or sign begins with."""

_READ = "TEXT DOLLAR_TEXT QUOTED BACKQUOTED DOUBLE DECIMAL DIGIT_IDENTIFIER INTEGER IDENTIFIER"
_OPEN = r"/\*"
"""A comment that was closed is left out before, so this is one that was not."""

_LEFT_OUT = ("SPACE", "COMMENT")
_A_NAME = r"""(?:[A-Za-z0-9_@]+|`(?:[^`]|``)*`|"(?:[^"]|"")*")"""
_LAMBDA = re.compile(rf"\(\s*{_A_NAME}\s*(?:,\s*{_A_NAME}\s*)*\)\s*=>")


def can_shift(parser_state: Any, terminal: str) -> bool:  # noqa: ANN401  # lark gives it no type
    """Whether the parser can go on with a terminal: exactly, as its tables alone do not tell."""
    states = parser_state.parse_conf.states
    stack = parser_state.state_stack
    # States reached by reductions, on top of the first `kept` states of the stack.
    kept = len(stack)
    above: list[Any] = []
    while True:
        state = above[-1] if above else stack[kept - 1]
        if terminal not in states[state]:
            return False
        action, rule = states[state][terminal]
        if action is Shift:
            return True
        size = len(rule.expansion)
        taken = min(size, len(above))
        del above[len(above) - taken :]
        kept -= size - taken
        state = above[-1] if above else stack[kept - 1]
        above.append(states[state][rule.origin.name][1])
        if terminal == "$END" and above[-1] == parser_state.parse_conf.end_state:
            return True


class SqlLexer(Lexer):
    """Gives the parser its tokens one by one, looking at what it can take."""

    __future_interface__ = 2

    def __init__(self, lexer_conf: LexerConf) -> None:
        patterns = {it.name: it.pattern for it in lexer_conf.terminals if it.pattern is not None}
        fixed = {
            pattern.value: name
            for name, pattern in patterns.items()
            if isinstance(pattern, PatternStr)
        }
        self._signs = {text: name for text, name in fixed.items() if not text.isidentifier()}
        self._keywords = {text: name for text, name in fixed.items() if text.isidentifier()}
        signs = "|".join(re.escape(it) for it in sorted(self._signs, key=len, reverse=True))
        left_out = "|".join(patterns[name].to_regexp() for name in _LEFT_OUT)
        words = "|".join(f"(?P<{name}>{patterns[name].to_regexp()})" for name in _READ.split())
        self._left_out = re.compile(f"(?:{left_out})*")
        self._token = re.compile(
            f"{words}|(?P<{UNREADABLE}>{_OPEN}|(?!{signs}).)|(?P<SIGN>{signs})", re.DOTALL
        )

    @override
    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        text = lexer_state.text.text
        end = len(text)
        position = self._skip(text, 0)
        while position < end:
            found = self._token.match(text, position)
            assert found is not None
            position = self._skip(text, found.end())
            kind = self._kind(found, text, position, parser_state)
            yield Token(kind, found.group(), found.start(), end_pos=found.end())

    def _skip(self, text: str, position: int) -> int:
        found = self._left_out.match(text, position)
        assert found is not None
        return found.end()

    def _kind(self, found: re.Match[str], text: str, after: int, parser_state: Any) -> str:  # noqa: ANN401
        kind = found.lastgroup or UNREADABLE
        if kind == "IDENTIFIER":
            return self._word(found.group().upper(), text, after, parser_state)
        if kind != "SIGN":
            return kind
        sign = found.group()
        if sign == "(" and _LAMBDA.match(text, found.start()):
            # In a pattern the same signs are a group before an arrow.
            return "LAMBDA_OPEN" if can_shift(parser_state, "LAMBDA_OPEN") else self._signs[sign]
        return self._signs[sign]

    def _word(self, word: str, text: str, after: int, parser_state: Any) -> str:  # noqa: ANN401
        keyword = self._keywords.get(word)
        if keyword is None:
            return "IDENTIFIER"
        if word in RESERVED:
            return keyword
        if not can_shift(parser_state, keyword):
            return "IDENTIFIER"
        if word in KEYWORD_BEFORE and can_shift(parser_state, "IDENTIFIER"):
            fits = self._next(text, after) in KEYWORD_BEFORE[word]
            return keyword if fits else "IDENTIFIER"
        return keyword

    def _next(self, text: str, position: int) -> str:
        """Give the next word or sign, or its kind."""
        found = self._token.match(text, position)
        if found is None:
            return ""
        kind, word = found.lastgroup, found.group().upper()
        if kind in ("QUOTED", "BACKQUOTED", "DIGIT_IDENTIFIER"):
            return "a name"
        if kind == "IDENTIFIER":
            return word if word in RESERVED else "a name"
        if kind in ("TEXT", "DOLLAR_TEXT"):
            return "a text"
        return "a number" if kind in ("INTEGER", "DECIMAL", "DOUBLE") else word
