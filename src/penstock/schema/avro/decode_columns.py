"""Columns on their way from bytes to Arrow: numbers, texts that still lie in the bytes, arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.schema.avro.decode_cursor import Ints, Mask, Source
from penstock.schema.codec.binary import texts_of

Numbers: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Flat:
    """Values of one width, as Arrow lays them out; those that are not `valid` are null."""

    values: Numbers
    type: pa.DataType
    valid: Mask | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Strings or bytes, by where they lie; those that are not `valid` are null."""

    starts: Ints
    lengths: Ints
    type: pa.DataType
    valid: Mask | None = None


@dataclass(frozen=True, slots=True)
class Symbols:
    """One of few strings, by its place among them; those that are not `valid` are null."""

    places: Ints
    symbols: pa.Array
    valid: Mask | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """An Arrow array as it is."""

    array: pa.Array


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nulls, so many."""

    count: int
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Variants:
    """Values of a union of several: those of each branch, with their places among all.

    A branch is known by its place in the struct; what is of no branch is null.
    """

    branches: tuple[tuple[int, Part], ...]
    count: int
    type: pa.DataType


Column: TypeAlias = Flat | Text | Symbols | Built | Nothing | Variants
Part: TypeAlias = tuple[Ints, Column]
"""A column of some values, and their places among all."""


def arrow_of(column: Column, source: Source) -> pa.Array:
    """Give a column as Arrow has it; a text that is no UTF-8 fails its row."""
    if isinstance(column, Built):
        return column.array
    if isinstance(column, Nothing):
        return pa.nulls(column.count, column.type)
    if isinstance(column, Variants):
        return _variants(column, source)
    if isinstance(column, Symbols):
        taken = column.symbols.take(pa.array(column.places))
        return taken if column.valid is None else _with_nulls(taken, column.valid)
    # With a row put aside all this is read again, and the places may lie anywhere.
    if source.reasons:
        return pa.nulls(
            len(column.values if isinstance(column, Flat) else column.starts), column.type
        )
    return _flat(column) if isinstance(column, Flat) else _text(column, source)


def merged(parts: Sequence[Part], count: int, type_: pa.DataType, source: Source) -> Column:
    """Put columns of one type at their places among so many values; the others are null."""
    parts = [part for part in parts if not isinstance(part[1], Nothing)]
    if not parts:
        return Nothing(count, type_)
    first = parts[0][1]
    alike = all(type(column) is type(first) for _, column in parts)
    if isinstance(first, Variants) and alike:
        return Variants(tuple(_moved(parts)), count, type_)
    if isinstance(first, Built | Variants) or not alike:
        return Built(_interleaved([(at, arrow_of(column, source)) for at, column in parts], count))
    valid = np.zeros(count, np.bool_)
    for places, column in parts:
        assert isinstance(column, Flat | Text | Symbols)
        valid[places] = True if column.valid is None else column.valid
    if isinstance(first, Flat):
        return Flat(_scattered(parts, "values", count), type_, valid)
    if isinstance(first, Symbols):
        return Symbols(_scattered(parts, "places", count), first.symbols, valid)
    starts, lengths = (_scattered(parts, name, count) for name in ("starts", "lengths"))
    return Text(starts, lengths, type_, valid)


def struct_of(
    children: Sequence[pa.Array], type_: pa.DataType, count: int, valid: Mask | None = None
) -> pa.Array:
    """Make values with named parts."""
    bits = None if valid is None else _bits(valid)
    return pa.Array.from_buffers(type_, count, [bits], children=list(children))


def offsets_of(counts: Ints) -> pa.Array:
    """Give where each list begins among the items of all, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.array(offsets)


def _variants(column: Variants, source: Source) -> pa.Array:
    children = [
        arrow_of(
            merged(
                [part for place, part in column.branches if place == at],
                column.count,
                field.type,
                source,
            ),
            source,
        )
        for at, field in enumerate(column.type)
    ]
    valid = np.zeros(column.count, np.bool_)
    for _, (places, _) in column.branches:
        valid[places] = True
    return struct_of(children, column.type, column.count, valid)


def _moved(parts: Sequence[Part]) -> Iterator[tuple[int, Part]]:
    for places, column in parts:
        assert isinstance(column, Variants)
        for branch, (inner, values) in column.branches:
            yield branch, (places[inner], values)


def _scattered(parts: Sequence[Part], name: str, count: int) -> Numbers:
    arrays = [(places, getattr(column, name)) for places, column in parts]
    first = arrays[0][1]
    values: Numbers = np.zeros((count, *first.shape[1:]), first.dtype)
    for places, array in arrays:
        values[places] = array
    return values


def _interleaved(parts: Sequence[tuple[Ints, pa.Array]], count: int) -> pa.Array:
    places = np.full(count, -1, np.int64)
    base = 0
    for at, array in parts:
        places[at] = np.arange(base, base + len(array))
        base += len(array)
    whole = parts[0][1] if len(parts) == 1 else pa.concat_arrays([array for _, array in parts])
    return whole.take(pa.array(places, mask=places < 0))


def _with_nulls(array: pa.Array, valid: Mask) -> pa.Array:
    return array.take(pa.array(np.arange(len(array)), mask=~valid))


def _bits(valid: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def _flat(column: Flat) -> pa.Array:
    if pa.types.is_boolean(column.type):
        nulls = None if column.valid is None else ~column.valid
        return pa.array(column.values.astype(np.bool_), mask=nulls)
    bits = None if column.valid is None else _bits(column.valid)
    values = pa.py_buffer(np.ascontiguousarray(column.values))
    return pa.Array.from_buffers(column.type, len(column.values), [bits, values])


def _text(column: Text, source: Source) -> pa.Array:
    """Gather texts: they are every second value of an array that has the gaps as values, too."""
    count = len(column.starts)
    edges = np.empty(2 * count + 1, np.int64)
    edges[0:-1:2] = column.starts
    np.add(column.starts, column.lengths, out=edges[1::2])
    edges[-1] = edges[-2] if count else 0
    if column.valid is not None:
        # A null lies nowhere; it takes the place where the one before it ends.
        edges = np.maximum.accumulate(edges)
    assert not (edges[1:] < edges[:-1]).any(), "texts lie in the order of their rows"
    gaps = pa.Array.from_buffers(
        pa.binary(),
        2 * count,
        [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(source.data)],
    )
    found = gaps.take(pa.array(np.arange(0, 2 * count, 2)))
    if pa.types.is_string(column.type):
        found = _utf8(found, column, source)
    if column.valid is None:
        return found
    buffers = found.buffers()
    return pa.Array.from_buffers(found.type, count, [_bits(column.valid), *buffers[1:]])


def _utf8(found: pa.Array, column: Text, source: Source) -> pa.Array:
    data = found.buffers()[2]
    if data is None or len(data) == 0 or np.frombuffer(data, np.int8).min() >= 0:
        return found.view(pa.string())
    texts, wrong = texts_of(found)
    if wrong:
        source.fail(source.row_at(column.starts[list(wrong)]), "a string is not UTF-8")
    return texts
