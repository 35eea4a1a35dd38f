"""What to say of a text that the grammar cannot take."""

from __future__ import annotations

import difflib
import re
from typing import Any

from lark.lexer import PatternStr, Token

from penstock.errors import SqlError
from penstock.front.sql.lex import UNREADABLE, can_shift
from penstock.front.sql.lex_words import RESERVED, keywords
from penstock.front.sql.parse_branch import span_of
from penstock.front.sql.parse_grammar import load_grammar
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span

_MOST_SHOWN = 8
_CORRECT = "Correct it there; docs/sql-reference.md has every statement."
_KINDS = {
    "IDENTIFIER": "a name",
    "TEXT": "a text in quotes",
    "DOLLAR_TEXT": "a text in quotes",
    "INTEGER": "a number",
    "DECIMAL": "a number",
    "DOUBLE": "a number",
    "$END": "the end of the statement",
}
_SILENT = frozenset({"DIGIT_IDENTIFIER", "QUOTED", "BACKQUOTED", "LAMBDA_OPEN"})
_CONSTRUCTED = frozenset({"ARRAY", "MAP", "STRUCT"})
_UNITS = frozenset({"DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND"})
_VALUES = frozenset({"a name", "a text in quotes", "a number", '"("', '"-"', '"+"', "NOT"})
_OPERATORS = frozenset(f'"{it}"' for it in ("+", "-", "*", "/", "%", "||", "->", "[", ".", "("))
_COMPARISONS = frozenset(f'"{it}"' for it in ("=", "<>", "!=", "<", "<=", ">", ">="))
_GROUPS: tuple[tuple[str, str, frozenset[str]], ...] = (
    # What tells a group, how it is called, and what belongs to it.
    ("SHOW", "a statement", keywords() | {'"("'}),
    ("CASE", "an expression", _VALUES | {"NULL", "TRUE", "FALSE", "CASE", "CAST"} | _CONSTRUCTED),
    ('"="', "a comparison", _COMPARISONS | {"BETWEEN", "IN", "IS", "LIKE", "NOT"}),
    ('"||"', "an operator", _OPERATORS | {"AT", '"=>"', "a text in quotes"}),
    ("MILLISECOND", "a unit of time", _UNITS | {f"{unit}S" for unit in _UNITS}),
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_@]*")
_LAST_WORD = re.compile(r"([A-Za-z_][A-Za-z0-9_@]*)\s*\Z")


def refusal(source: SourceText, start: str, token: Token) -> SqlError:
    """Give the error for the first word or sign of a text that cannot stand where it does."""
    if token.type == "$END":
        end = len(source.text)
        place, found = Span(end, end), "the end of the statement"
    else:
        place, found = span_of(token), f'"{_short(token)}"'
    if token.type == UNREADABLE:
        return _unreadable(source, place)
    expected = _expected(_state_before(source, start, token))
    hint = _guess(source, place, expected) or _reserved(token, expected) or _CORRECT
    fact = f"expected {_listed(expected)}, found {found}"
    return SqlError("SQL_SYNTAX", source.shown(fact, place), hint=hint)


def _state_before(source: SourceText, start: str, refused: Token) -> Any:  # noqa: ANN401
    """Give the state of the parser when a token came; it had gone on when it refused it."""
    parser = load_grammar().parse_interactive(source.text, start)
    for token in parser.iter_parse():
        if refused.type != "$END" and token.start_pos == refused.start_pos:
            break
    return parser.parser_state


def _unreadable(source: SourceText, place: Span) -> SqlError:
    sign = source.text[place.start : place.end]
    open_kinds = {"'": "text", '"': "quoted name", "`": "quoted name", "/*": "comment"}
    if sign in open_kinds:
        close = f"Close it with {sign} and write {sign}{sign} for one within it."
        return SqlError(
            "SQL_SYNTAX",
            source.shown(f"a {open_kinds[sign]} has no end", place),
            hint="Close it with */." if sign == "/*" else close,
        )
    return SqlError(
        "SQL_SYNTAX",
        source.shown(f"the character {sign!r} means nothing here", place),
        hint="A name that holds such characters is written in backquotes: `name`.",
    )


def _expected(state: Any) -> list[str]:  # noqa: ANN401  # lark gives it no type
    """Give what could stand there, in words."""
    patterns = {it.name: it.pattern for it in load_grammar().terminals}
    found: set[str] = set()
    for terminal in state.parse_conf.states[state.position]:
        # Rules are named in small letters in the same table.
        if terminal in _SILENT or terminal.islower() or not can_shift(state, terminal):
            continue
        pattern = patterns.get(terminal)
        if isinstance(pattern, PatternStr):
            word = pattern.value
            found.add(word if word.isidentifier() else f'"{word}"')
        else:
            found.add(_KINDS[terminal])
    return sorted(found, key=_rank)


def _rank(word: str) -> tuple[int, str]:
    if word.startswith(("a ", "an ", "the ")):
        return 0, word
    return (1 if word.startswith('"') else 2 if word in RESERVED else 3), word


def _listed(expected: list[str]) -> str:
    """Give a list that a person can take in: groups are named, and few words shown."""
    left = set(expected)
    for mark, name, members in _GROUPS:
        if mark in left:
            left = left - members | {name}
    said = sorted(left, key=_rank)
    if len(said) > _MOST_SHOWN:
        said = [*said[:_MOST_SHOWN], "another word"]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} or {said[-1]}"


def _guess(source: SourceText, place: Span, expected: list[str]) -> str:
    """Suggest the keyword that is misspelt there, or just before, where it passed for a name."""
    wanted = [word for word in expected if word.isidentifier()]
    here = _WORD.match(source.text, place.start)
    close = _nearest(here.group(), wanted) if here else ""
    if close:
        return f'Did you mean "{close}"?'
    before = _LAST_WORD.search(source.text, 0, place.start)
    if before is None or before[1].upper() in keywords():
        return ""
    close = _nearest(before[1], wanted)
    return f'Did you mean "{close}" instead of "{before[1]}"?' if close else ""


def _nearest(word: str, wanted: list[str]) -> str:
    close = difflib.get_close_matches(word.upper(), wanted, n=1, cutoff=0.7)
    return close[0] if close and close[0] != word.upper() else ""


def _reserved(word: str, expected: list[str]) -> str:
    if word.upper() in RESERVED and "a name" in expected:
        return f"{word.upper()} is a reserved word; as a name it is written `{word}`."
    return ""


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 30 else f"{line[:27]}..."  # noqa: PLR2004
