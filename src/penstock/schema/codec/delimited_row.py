"""One line of delimited text, taken apart with care."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.schema.codec.json_row import Read, UnfitError
from penstock.schema.codec.text_row import text_reader
from penstock.schema.codec.times import Times
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Dialect:
    """The signs of a delimited format; without a quote no text holds a delimiter."""

    delimiter: str = ","
    quote: str = '"'
    null: str = ""


@dataclass(frozen=True, slots=True)
class LineReader:
    """Reads one line at a time, by the types of its columns."""

    dialect: Dialect
    readers: tuple[tuple[str, Read], ...]

    def row(self, line: str) -> dict[str, Any]:
        """Give the columns of a line; raises `UnfitError`."""
        fields = split_line(line.removesuffix("\n").removesuffix("\r"), self.dialect)
        if len(fields) != len(self.readers):
            count = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
            raise UnfitError(f"{count}, where {len(self.readers)} are expected")
        row: dict[str, Any] = {}
        for (name, read), text in zip(self.readers, fields, strict=True):
            try:
                row[name] = None if text is None else read(text)
            except UnfitError as unfit:
                unfit.path.append(name)
                raise
        return row


def line_reader(schema: Schema, dialect: Dialect, times: Times) -> LineReader:
    """Make a reader of these columns."""
    readers = partial(text_reader, times=times)
    return LineReader(dialect, tuple((field.name, readers(field.type)) for field in schema.fields))


def split_line(line: str, dialect: Dialect) -> list[str | None]:
    """Take a line apart; none is what stands for null."""
    if not dialect.quote or dialect.quote not in line:
        parts = line.split(dialect.delimiter)
        return [None if part == dialect.null else part for part in parts]
    found: list[str | None] = []
    at = 0
    while True:
        quoted = line.startswith(dialect.quote, at)
        text, at = _quoted(line, at, dialect) if quoted else _bare(line, at, dialect)
        found.append(None if text == dialect.null and not quoted else text)
        if at >= len(line):
            return found
        at += 1
        if at == len(line):
            return [*found, None if dialect.null == "" else ""]


def _bare(line: str, at: int, dialect: Dialect) -> tuple[str, int]:
    end = line.find(dialect.delimiter, at)
    end = len(line) if end < 0 else end
    return line[at:end], end


def _quoted(line: str, at: int, dialect: Dialect) -> tuple[str, int]:
    quote, parts = dialect.quote, []
    at += 1
    while True:
        end = line.find(quote, at)
        if end < 0:
            raise UnfitError("a quoted text that does not end")
        parts.append(line[at:end])
        at = end + 1
        if not line.startswith(quote, at):
            break
        parts.append(quote)
        at += 1
    if at < len(line) and not line.startswith(dialect.delimiter, at):
        raise UnfitError(f"text after the closing quote at character {end}")
    return "".join(parts), at
