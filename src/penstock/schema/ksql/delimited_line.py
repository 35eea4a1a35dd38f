"""One line of delimited text, read and written as ksqlDB does."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from penstock.schema.ksql.json_value import Named, from_json, plain_value
from penstock.schema.ksql.numbers import java_double
from penstock.schema.types import Kind, Type

_SPECIAL = ("\n", "\r", '"')


def read_line(text: str, named: Named, delimiter: str) -> dict[str, Any]:
    """Give the columns of a line; an empty text is null."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(f"not delimited text: {error}") from error
    cells = lines[0] if lines else [""]
    if len(cells) != len(named):
        raise ValueError(f"{len(cells)} columns, where {len(named)} are expected")
    return {name: _value(cell, type_) for cell, (name, type_) in zip(cells, named, strict=True)}


def _value(cell: str, type_: Type) -> Any:  # noqa: ANN401
    if not cell:
        return None
    if type_.kind is Kind.BOOLEAN:
        return cell.strip().lower() == "true"
    return from_json(cell if type_.kind is Kind.STRING else cell.strip(), type_)


def write_line(row: Mapping[str, Any], named: Named, delimiter: str) -> bytes:
    """Give the line of columns."""
    cells = [_cell(row[name]) for name, _ in named]
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
