"""Answers of a SQL session as text: tables for people, a JSON document a line for programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, assert_never

from penstock.cli.output import talk, write_json, write_line, write_table
from penstock.cli.sql_live import follow_table
from penstock.sql.plain_value import plain

if TYPE_CHECKING:
    from penstock.sql.answer import Answer, Followed, Listed, Told


def write_answer(answer: Answer, *, json: bool) -> None:
    """Write an answer; rows that come by and by are written as they do."""
    from penstock.sql.answer import Followed, Listed, Told  # noqa: PLC0415  # loads the log

    match answer:
        case Told():
            _write_told(answer, json=json)
        case Listed():
            _write_listed(answer, json=json)
        case Followed():
            _write_followed(answer, json=json)
        case _:
            assert_never(answer)


def cell_text(value: Any) -> str:  # noqa: ANN401  # a value of any type
    """Give a value as a cell of a table."""
    shown = plain(value)
    if shown is None:
        return "null"
    if isinstance(shown, bool):
        return str(shown).lower()
    if isinstance(shown, list):
        return f"[{', '.join(map(cell_text, shown))}]"
    if isinstance(shown, dict):
        return f"{{{', '.join(f'{name}={cell_text(item)}' for name, item in shown.items())}}}"
    return str(shown)


def _write_told(told: Told, *, json: bool) -> None:
    if json:
        write_json({"message": told.words, "notes": list(told.notes)})
        return
    write_line(told.words)
    for note in told.notes:
        talk(f"  {note}")


def _write_listed(listed: Listed, *, json: bool) -> None:
    offsets = {str(at): offset for at, offset in listed.offsets.items()}
    if json:
        rows = [dict(zip(listed.columns, map(plain, row), strict=True)) for row in listed.rows]
        write_json({"columns": list(listed.columns), "rows": rows, "offsets": offsets})
        return
    write_table(listed.columns, [[cell_text(cell) for cell in row] for row in listed.rows])
    if offsets:
        reached = ", ".join(f"{at}@{offset}" for at, offset in offsets.items() if offset)
        count = len(listed.rows)
        talk(f"({count} {'row' if count == 1 else 'rows'} as of {reached or 'empty topics'})")


def _write_followed(followed: Followed, *, json: bool) -> None:
    if not json and followed.keys and sys.stdout.isatty():
        follow_table(followed, cell_text)
        return
    if not json:
        write_line("  ".join(followed.columns))
    for row in followed.rows:
        if row is None:
            # Whoever reads a pipe sees rows when they are there, not when a buffer is full.
            sys.stdout.flush()
            continue
        if json:
            write_json(dict(zip(followed.columns, map(plain, row), strict=True)))
        else:
            cells = zip(followed.columns, row, strict=True)
            write_line("  ".join(cell_text(cell).ljust(len(name)) for name, cell in cells).rstrip())
