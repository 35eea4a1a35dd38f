"""Many lines of delimited text in one go, by Arrow's own reader."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import Mask, run_of, whole_column
from penstock.schema.codec.delimited_row import Dialect
from penstock.schema.codec.text_column import TEMPORAL, moments
from penstock.schema.codec.times import Times
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind

_BREAKS = (ord("\n"), ord("\r"))
_AS_TEXT = (*TEMPORAL, Kind.BYTES)
# Arrow reads whole numbers that begin so, and nobody else does.
_HEXADECIMAL = "0[xX]"


def read_lines(
    lines: pa.Array, schema: Schema, dialect: Dialect, times: Times
) -> tuple[pa.Table, Mask]:
    """Read lines that are `unbroken`, and say which rows are better read one by one.

    Raises `ValueError` (Arrow's errors are such) where one of them is not what it should be.
    """
    ends = pa.array([0, len(lines)], pa.int32())
    whole = pc.binary_join(pa.ListArray.from_arrays(ends, lines), "\n")[0].as_buffer()
    found = pv.read_csv(
        pa.BufferReader(whole),
        pv.ReadOptions(
            use_threads=False, column_names=list(schema.names), block_size=whole.size + 1
        ),
        _parsing(dialect),
        _conversion(schema, dialect),
    )
    # A quoted text that does not end takes the next line with it.
    if found.num_rows != len(lines):
        raise ValueError("a quoted text that does not end")
    columns = [
        _column(whole_column(column), field, times)
        for column, field in zip(found.columns, schema.fields, strict=True)
    ]
    return pa.table(columns, schema=to_arrow(schema)), _doubtful(lines, columns, schema, dialect)


def unbroken(lines: pa.Array) -> Mask:
    """Say which lines are one line and not empty: others are never read in bulk."""
    run = run_of(lines)
    found: Mask = run.lengths > 0
    breaks = np.flatnonzero((run.data == _BREAKS[0]) | (run.data == _BREAKS[1]))
    found[run.rows_of(breaks)] = False
    return found


def _parsing(dialect: Dialect) -> pv.ParseOptions:
    return pv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char=dialect.quote or False,
        double_quote=bool(dialect.quote),
        ignore_empty_lines=False,
    )


def _conversion(schema: Schema, dialect: Dialect) -> pv.ConvertOptions:
    return pv.ConvertOptions(
        column_types={
            field.name: pa.string() if field.type.kind in _AS_TEXT else arrow_type(field.type)
            for field in schema.fields
        },
        null_values=[dialect.null],
        true_values=["true", "TRUE", "True"],
        false_values=["false", "FALSE", "False"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        check_utf8=False,
    )


def _column(values: pa.Array, field: Field, times: Times) -> pa.Array:
    if field.type.kind is Kind.DECIMAL:
        # The reader looks at the digits that are there, not at those a scale adds.
        values.validate(full=True)
    return moments(values, field, times) if field.type.kind in _AS_TEXT else values


def _doubtful(lines: pa.Array, columns: list[pa.Array], schema: Schema, dialect: Dialect) -> Mask:
    """Say which rows Arrow takes for more than they are."""
    doubts = np.zeros(len(lines), np.bool_)
    for column, field in zip(columns, schema.fields, strict=True):
        if field.type.kind is Kind.FLOAT64:
            endless = pc.invert(pc.is_finite(column)).fill_null(pa.scalar(value=False))
            doubts |= endless.to_numpy(zero_copy_only=False)
    data = run_of(lines).data
    suspects = []
    if any(field.type.integral for field in schema.fields):
        letters = (data[1:] == ord("x")) | (data[1:] == ord("X"))
        if (letters & (data[:-1] == ord("0"))).any():
            suspects.append(_HEXADECIMAL)
    if dialect.quote and (data == ord(dialect.quote)).any():
        suspects.append(_badly_quoted(dialect))
        # The reader lets the end of all close what the last line leaves open.
        open_ = pc.bit_wise_and(pc.count_substring(lines, dialect.quote), 1)
        doubts |= open_.to_numpy(zero_copy_only=False).astype(np.bool_)
    for pattern in suspects:
        doubts |= pc.match_substring_regex(lines, pattern).to_numpy(zero_copy_only=False)
    return doubts


def _badly_quoted(dialect: Dialect) -> str:
    """Match a quoted text that does not end, or goes on after its closing quote."""
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    opened = rf"{quote}(?:[^{quote}]|{quote}{quote})*"
    text = rf"(?:{opened}{quote}|[^{quote}{delimiter}][^{delimiter}]*|)"
    return rf"^(?:{text}{delimiter})*{opened}(?:$|{quote}[^{quote}{delimiter}])"
