"""Rows as lines of delimited text, read and written as ksqlDB does."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from penstock.front.sql.record_json import from_json, plain_value
from penstock.front.sql.record_number import java_double
from penstock.front.sql.source import SourceColumn
from penstock.schema.types import Kind

_SPECIAL = ("\n", "\r", '"')


def read_delimited(text: bytes, columns: Sequence[SourceColumn], delimiter: str) -> dict[str, Any]:
    """Give the columns of a line; an empty text is null."""
    lines = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))
    cells = lines[0] if lines else [""]
    if len(cells) != len(columns):
        raise ValueError(f"{len(cells)} columns, where {len(columns)} are expected")
    return {column.name: _value(cell, column) for cell, column in zip(cells, columns, strict=True)}


def _value(cell: str, column: SourceColumn) -> Any:  # noqa: ANN401
    if not cell:
        return None
    if column.type.kind is Kind.BOOLEAN:
        return cell.strip().lower() == "true"
    trimmed = cell if column.type.kind is Kind.STRING else cell.strip()
    return from_json(trimmed, column.type)


def write_delimited(
    row: Mapping[str, Any], columns: Sequence[SourceColumn], delimiter: str
) -> bytes:
    """Give the line of columns."""
    cells = [_cell(row[column.name]) for column in columns]
    quoted = (
        _quoted(cell, delimiter, first=place == 0) if cell is not None else ""
        for place, cell in enumerate(cells)
    )
    return delimiter.join(quoted).encode()


def _cell(value: Any) -> str | None:  # noqa: ANN401
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return java_double(value)
        case Decimal():
            return f"{value:f}"
        case str():
            return value
        case _:
            return str(plain_value(value))


def _quoted(text: str, delimiter: str, *, first: bool) -> str:
    """Put a text in quotes where it would be read otherwise, as Apache's CSV printer does."""
    if not text:
        return '""' if first else ""
    special = (delimiter, *_SPECIAL)
    strange = first and not (text[0].isascii() and text[0].isalnum())
    blank = text[0] <= "#" or text[-1] <= " "
    if not strange and not blank and not any(sign in text for sign in special):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
