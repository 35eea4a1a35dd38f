"""The parser's tables, made beforehand: to make them of the grammar takes over a second.

They are data, so that nothing is run that a file says, and hold for one grammar and one version
of Lark: those of another are not used.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.front.sql.lex_words import GRAMMAR

if TYPE_CHECKING:
    from lark import Lark

TABLES = Path(__file__).with_name("grammar.tables.gz")

_NUMBERED: tuple[tuple[str, ...], ...] = (
    ("memo",),
    ("data", "parser", "parser", "tokens"),
    ("data", "parser", "parser", "states"),
)
"""Where the keys are numbers, which JSON has not."""
_LEXER: tuple[tuple[str, ...], ...] = (
    ("data", "options", "lexer"),
    ("data", "parser", "lexer_conf", "lexer_type"),
)
"""Where the class that reads words is named, which is no data."""


def grammar_version() -> str:
    """Give what tells the tables of one grammar from those of another."""
    import lark  # noqa: PLC0415  # most programs never read SQL

    return hashlib.sha256(f"{lark.__version__}\n".encode() + GRAMMAR.read_bytes()).hexdigest()


def packed_tables(parser: Lark) -> bytes:
    """Give the tables of a parser as the content of a file."""
    saved = io.BytesIO()
    parser.save(saved)
    tables = pickle.loads(saved.getvalue())  # noqa: S301  # what was written the line before
    for way in _LEXER:
        _put(tables, way, None)
    text = json.dumps({"version": grammar_version(), "tables": tables}, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def parser_of_tables(lexer: type) -> Lark | None:
    """Give the parser, or none where there are no tables for this grammar."""
    from lark import Lark  # noqa: PLC0415  # most programs never read SQL

    try:
        told = json.loads(gzip.decompress(TABLES.read_bytes()))
    except (OSError, ValueError, EOFError):
        return None
    if told["version"] != grammar_version():
        return None
    tables = told["tables"]
    for way in _NUMBERED:
        _put(tables, way, {int(key): item for key, item in _found(tables, way).items()})
    states = _found(tables, _NUMBERED[-1])
    for state, actions in states.items():
        states[state] = {int(token): action for token, action in actions.items()}
    for way in _LEXER:
        _put(tables, way, lexer)
    # Lark reads what it saved, and only so: what is read here was made the line before.
    return Lark.load(io.BytesIO(pickle.dumps(tables)))


def _found(tables: Any, way: tuple[str, ...]) -> Any:  # noqa: ANN401  # as JSON has it
    for name in way:
        tables = tables[name]
    return tables


def _put(tables: Any, way: tuple[str, ...], item: Any) -> None:  # noqa: ANN401  # as JSON has it
    _found(tables, way[:-1])[way[-1]] = item
