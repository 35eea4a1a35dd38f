"""Columns as lines of delimited text, as ksqlDB has them: all at once, unusual ones one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.schema.codec.binary import Mask, one_array, run_of
from penstock.schema.codec.delimited_bulk import read_lines, unbroken
from penstock.schema.codec.delimited_row import Dialect
from penstock.schema.codec.port import Decoded
from penstock.schema.codec.reading import Reading
from penstock.schema.codec.times import Times
from penstock.schema.ksql.counted import counted_rows, counted_schema, timed_rows
from penstock.schema.ksql.delimited_line import read_line
from penstock.schema.ksql.json_codec import unfit_if_wrong
from penstock.schema.ksql.numbers import java_double
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

_NUMBERS = Times("number")
_QUOTE = ord('"')
# Doubles of this size are written alike by Java and by polars.
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7


@dataclass(frozen=True, slots=True)
class KsqlDelimited:
    """Reads and writes lines by the order of their columns; an empty text is null."""

    schema: Schema
    delimiter: str = ","

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        named = tuple((field.name, field.type) for field in self.schema.fields)
        read = partial(read_line, named=named, delimiter=self.delimiter)

        def single(text: str) -> dict[str, Any]:
            return unfit_if_wrong(read, text)

        return Reading(self.schema, self._bulk, self._fit, single).decode(one_array(values))

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        counted = pl.DataFrame(counted_rows(rows, self.schema))
        cells = [
            _quoted(_texts(counted[field.name], field.type.kind), self.delimiter, first=place == 0)
            for place, field in enumerate(self.schema.fields)
        ]
        lines = pl.select(pl.concat_str(cells, separator=self.delimiter).alias("line"))
        return one_array(lines.to_series().to_arrow())

    def _bulk(self, lines: pa.Array) -> tuple[pa.Table, Mask]:
        dialect = Dialect(self.delimiter)
        found, doubts = read_lines(lines, counted_schema(self.schema), dialect, _NUMBERS)
        rows, strange = timed_rows(found, self.schema)
        return rows, doubts | strange

    def _fit(self, lines: pa.Array) -> Mask:
        """Say which lines have no quotes: those are taken apart one by one."""
        fits = unbroken(lines)
        run = run_of(lines)
        fits[run.rows_of(np.flatnonzero(run.data == _QUOTE))] = False
        if not self.delimiter.isascii() or self.delimiter == '"':
            fits[:] = False
        return fits


def _texts(column: pl.Series, kind: Kind) -> pl.Series:
    """Give values as Java writes them."""
    if kind is Kind.BYTES:
        return column.bin.encode("base64")
    texts = column.cast(pl.String)
    if kind is not Kind.FLOAT64:
        return texts
    plain = column.abs().is_between(_PLAIN_FROM, _PLAIN_TO, closed="left") | (column == 0)
    odd = ~plain.fill_null(value=True)
    if not odd.any():
        return texts
    spelt = pl.Series([java_double(value) for value in column.filter(odd)], dtype=pl.String)
    return texts.scatter(odd.arg_true(), spelt)


def _quoted(column: pl.Series, delimiter: str, *, first: bool) -> pl.Series:
    """Put texts in quotes where they would be read otherwise, as Apache's CSV printer does."""
    text = column.fill_null("")
    strange = text.str.contains(r'[\n\r"]') | text.str.contains(delimiter, literal=True)
    strange |= text.str.contains(r"^[\x00-#]") | text.str.contains(r"[\x00- ]$")
    if first:
        strange |= ~text.str.contains("^[0-9A-Za-z]")
        # Of a first text that is empty the quotes tell it from a line that is.
        strange &= column.is_not_null()
    else:
        strange &= text != ""
    if not strange.any():
        return text
    doubled = '"' + text.str.replace_all('"', '""', literal=True) + '"'
    return doubled.zip_with(strange, text)
