"""What commands print: data to stdout, talk to stderr, decoration for a terminal only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from penstock.errors import PenstockError


def decorated(stream: TextIO) -> bool:
    """Whether a person with a colour terminal reads the stream."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def examples(*commands: str) -> str:
    """Give the examples that end a `--help`, one command a line."""
    lines = ["Examples:", *(f"$ {command}" for command in commands)]
    if sys.stdout.isatty():
        # A terminal gets rich markup, in which a bracket opens a style.
        return "\n".join(lines).replace("[", r"\[")
    # The plain formatter fills paragraphs unless they begin with this mark.
    return "\n".join(["\b", *lines])


def write_line(text: str) -> None:
    """Write one line of data."""
    sys.stdout.write(f"{text}\n")


def write_json(value: object) -> None:
    """Write one JSON document: on one line for a program, indented for a person."""
    indent = 2 if sys.stdout.isatty() else None
    write_line(json.dumps(value, ensure_ascii=False, indent=indent))


def write_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write rows below their column names; a pipe gets every character, a terminal what fits."""
    texts = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _write_rich_table(columns, texts)
        return
    widths = [max(map(len, column)) for column in zip(columns, *texts, strict=True)]
    for row in (columns, *texts):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        write_line("  ".join(cells).rstrip())


def write_list(
    rows: Sequence[Mapping[str, object]],
    *,
    as_json: bool,
    none_yet: str,
    cell: Callable[[object], object] = str,
) -> None:
    """Write rows by name, as JSON or as a table; where there are none a person is told so."""
    if as_json:
        write_json(rows)
    elif rows:
        write_table(list(rows[0]), [[cell(value) for value in row.values()] for row in rows])
    else:
        talk(none_yet)


def talk(text: str) -> None:
    """Tell the person at the terminal something that is not data."""
    sys.stderr.write(f"{text}\n")


def waiting(text: str) -> AbstractContextManager[object]:
    """Show that something takes its time, where a person watches."""
    if not decorated(sys.stderr):
        return nullcontext()
    from rich.console import Console  # noqa: PLC0415  # 60 ms that a pipe need not pay

    return Console(stderr=True).status(text)


def report(error: PenstockError) -> None:
    """Say what went wrong: code, fact and hint."""
    word = "\x1b[1;31merror\x1b[0m" if decorated(sys.stderr) else "error"
    talk(f"{word} [{error.code}] {error.fact}")
    if error.hint:
        talk(f"  {error.hint}")


def _write_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415  # 60 ms that a pipe need not pay
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        # Text, so that a bracket in the data is not taken for markup.
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
