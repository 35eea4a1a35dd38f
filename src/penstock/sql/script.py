"""Scripts read statement by statement, so that each sees what those before it defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.errors import SqlError
from penstock.front.sql.lex_split import split_script
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_statement import Statement


def pieces_of(text: str) -> Iterator[SourceText]:
    """Give the statements of a script without reading them."""
    yield from split_script(text.removeprefix("\ufeff"))


def read_piece(piece: SourceText, variables: Mapping[str, str]) -> Statement:
    """Read a statement of a script; errors tell its place there."""
    # The reader counts lines and columns itself: it is given as many as came before.
    before = "\n" * (piece.first_line - 1) + " " * (piece.first_column - 1)
    return parse_statement(before + piece.text, variables)


def script_text(path: str | Path) -> str:
    """Give the text of a file of statements."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise SqlError(
            "SQL_SCRIPT",
            f'the script "{path}" cannot be read: {reason}',
            hint="Give the path of a file with SQL statements.",
        ) from error
