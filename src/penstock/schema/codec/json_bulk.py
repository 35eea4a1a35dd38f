"""Many JSON values in one go; those that may have been misread are named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import Mask, run_of
from penstock.schema.codec.json_arrow import by_arrow, can_read
from penstock.schema.codec.json_row import parse_strict
from penstock.schema.codec.json_trees import by_trees
from penstock.schema.codec.json_wire import Wire, wire_of
from penstock.schema.codec.times import Times
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

_SAMPLES = 3
_OPEN, _CLOSE = b"{}"
_MANY = 0.05


def read_bulk(texts: pa.Array, schema: Schema, times: Times) -> tuple[pa.Table, Mask]:
    """Read values that are `enclosed`, and say which rows are better read one by one.

    Raises `ValueError` (Arrow's errors are such) where one of them is not what it should be.
    """
    wire = wire_of(schema, [parse_strict(text.as_py()) for text in texts[:_SAMPLES]])
    found, doubts = _columns(texts, wire, times)
    arrow = to_arrow(schema)
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(found, arrow, strict=True)
    ]
    return pa.table(columns, schema=arrow), doubts | _doubtful(texts, columns, wire)


def enclosed(texts: pa.Array) -> Mask:
    """Say which values begin and end as objects do: others are never read in bulk."""
    run = run_of(texts)
    found = run.lengths > 1
    first, last = run.starts[:-1][found], run.starts[1:][found] - 1
    found[found] = (run.data[first] == _OPEN) & (run.data[last] == _CLOSE)
    return found


def _columns(texts: pa.Array, wire: Wire, times: Times) -> tuple[list[pa.Array], Mask]:
    if can_read(wire):
        found, doubts = by_arrow(texts, wire, times)
        if np.count_nonzero(doubts) <= _MANY * len(texts):
            return found, doubts
    return by_trees(texts, wire, times), np.zeros(len(texts), np.bool_)


def _doubtful(texts: pa.Array, columns: Sequence[pa.Array], wire: Wire) -> Mask:
    """Say which rows have a field under a name of another case than the one that was read."""
    doubts = np.zeros(len(texts), np.bool_)
    spelled = _Spelling(texts)
    for column, part in zip(columns, wire.parts, strict=True):
        names = sorted(set(_missed(column, part)))
        if not names or spelled.one_way(names):
            continue
        rows = _rows_to_look_at(column, part)
        looked = texts if rows is None else texts.take(rows)
        strange = np.zeros(len(looked), np.bool_)
        alone = len({name.lower() for name in names}) < len(names)
        for some in [[name] for name in names] if alone else [names]:
            strange |= _spelled_otherwise(looked, some)
        doubts[strange if rows is None else rows.to_numpy()[strange]] = True
    return doubts


class _Spelling:
    """What all texts together tell of names: most writers spell them in one way."""

    def __init__(self, texts: pa.Array) -> None:
        self._texts = texts
        self._whole: tuple[bytes, bytes] | None = None

    def one_way(self, names: Sequence[str]) -> bool:
        """Whether no text has one of the names in letters of another case."""
        if self._whole is None:
            plain = run_of(self._texts).data.tobytes()
            self._whole = plain, plain.lower()
        plain, lower = self._whole
        if not plain.isascii() or b"\\u00" in lower:
            return False
        quoted = [f'"{name}"'.encode() for name in names]
        return all(plain.count(name) == lower.count(name.lower()) for name in quoted)


def _spelled_otherwise(texts: pa.Array, names: list[str]) -> Mask:
    pattern = "|".join(f'"{re.escape(name)}"' for name in names)
    like = pc.count_substring_regex(texts, rf"{pattern}|\\u00[4-7]", ignore_case=True)
    same = pc.count_substring_regex(texts, pattern)
    found: Mask = pc.greater(like, same).to_numpy(zero_copy_only=False)
    return found


def _missed(column: pa.Array, part: Wire) -> Iterator[str]:
    if part.name and (column.null_count or part.written_as != part.name):
        yield part.written_as
    if part.type.kind is Kind.STRUCT:
        for child, inner in zip(column.flatten(), part.parts, strict=True):
            yield from _missed(child, inner)
    elif part.parts:
        items = column.items if part.type.kind is Kind.MAP else column.values
        yield from _missed(items, part.parts[0])


def _rows_to_look_at(column: pa.Array, part: Wire) -> pa.Array | None:
    if part.parts or part.written_as != part.name:
        return None
    return pa.array(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)))
