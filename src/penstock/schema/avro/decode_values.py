"""Values without parts: numbers, texts, and what logical types make of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from penstock.schema.avro.decode_columns import Built, Column, Flat, Nothing, Text
from penstock.schema.avro.decode_cursor import Cursor, Ints, Mask, Words
from penstock.schema.avro.nodes import Fixed, Primitive

_PER_MILLISECOND = {"millis": 1, "micros": 1_000, "nanos": 1_000_000}
_DAY = 86_400_000
_WORD = 8
_UUID = 16
_ALL = np.uint64(2**64 - 1)
_HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), "<u2")
_DASHES = (0, 4, 6, 8, 10, 16)


def read_value(
    cursor: Cursor, writer: Primitive | Fixed, reader: Primitive | Fixed, type_: pa.DataType
) -> Column:
    """Read a value as its writer laid it out, and give it as the reader's column has it."""
    if isinstance(writer, Fixed):
        starts = cursor.pass_over(writer.size)
        return _octets(cursor, (starts, np.full(len(starts), writer.size)), writer, type_)
    match writer.name:
        case "null":
            return Nothing(len(cursor), type_)
        case "boolean":
            return _boolean(cursor, type_)
        case "float" | "double":
            return _real(cursor, writer.name, type_)
        case "int" | "long":
            value = cursor.read_int() if writer.name == "int" else cursor.read_long()
            return _number(cursor, value, (writer, reader), type_)
        case _:
            return _octets(cursor, cursor.text(), writer, type_)


def _boolean(cursor: Cursor, type_: pa.DataType) -> Column:
    found = cursor.octet()
    if found.max(initial=0) > 1:
        cursor.fail(found > 1, "a boolean is neither 0 nor 1")
    return Flat(found, type_)


def _real(cursor: Cursor, name: str, type_: pa.DataType) -> Column:
    if name == "double":
        return Flat(cursor.word(_WORD).view(np.float64), type_)
    narrow = cursor.word(4).astype(np.uint32).view(np.float32)
    # Some of the floats that are no number make a noise when they are widened.
    with np.errstate(invalid="ignore"):
        return Flat(narrow.astype(np.float64), type_)


def _number(
    cursor: Cursor,
    value: Ints,
    nodes: tuple[Primitive, Primitive | Fixed],
    type_: pa.DataType,
) -> Column:
    if pa.types.is_floating(type_):
        # What is read as a float loses what a float cannot hold, as in every other reader.
        narrow = np.float32 if nodes[1].name == "float" else np.float64
        return Flat(value.astype(narrow).astype(np.float64), type_)
    if pa.types.is_timestamp(type_):
        return Flat(_milliseconds(value, nodes), type_)
    if pa.types.is_time(type_):
        value = _milliseconds(value, nodes)
        wrong = (value < 0) | (value >= _DAY)
        if wrong.any():
            cursor.fail(wrong, "a time of the day is not within a day")
        return Flat(value.astype(np.int32), type_)
    return Flat(value if pa.types.is_int64(type_) else value.astype(np.int32), type_)


def _milliseconds(value: Ints, nodes: tuple[Primitive, Primitive | Fixed]) -> Ints:
    # What the writer means counts: micros read as millis would be another time.
    logical = nodes[0].logical or nodes[1].logical
    unit = _PER_MILLISECOND.get(logical.name.rpartition("-")[2], 1) if logical else 1
    return value if unit == 1 else value // unit


def _octets(
    cursor: Cursor, where: tuple[Ints, Ints], writer: Primitive | Fixed, type_: pa.DataType
) -> Column:
    if pa.types.is_decimal(type_):
        return _decimal(cursor, where, type_)
    if isinstance(writer, Fixed) and pa.types.is_string(type_):
        return _uuid(cursor, where[0], type_)
    return Text(*where, type_)


def _uuid(cursor: Cursor, starts: Ints, type_: pa.DataType) -> Column:
    """Give sixteen bytes as text with dashes."""
    if cursor.source.reasons:
        return Nothing(len(starts), type_)
    octets = cursor.source.data[starts[:, None] + np.arange(_UUID)]
    letters = _HEX[octets].view(np.uint8).reshape(len(starts), 2 * _UUID)
    text = np.full((len(starts), 2 * _UUID + 4), ord("-"), np.uint8)
    for dash, (begin, end) in enumerate(pairwise(_DASHES)):
        text[:, 2 * begin + dash : 2 * end + dash] = letters[:, 2 * begin : 2 * end]
    offsets = np.arange(len(starts) + 1, dtype=np.int32) * text.shape[1]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return Built(pa.Array.from_buffers(type_, len(starts), buffers))


def _decimal(cursor: Cursor, where: tuple[Ints, Ints], type_: pa.DataType) -> Column:
    """Read a number of any length, its highest byte first, as one of 128 bits."""
    starts, lengths = where
    if (lengths == 0).any() and not cursor.source.reasons:
        cursor.fail(lengths == 0, "a decimal has no bytes")
    if cursor.source.reasons:
        return Nothing(len(starts), type_)
    ends = starts + lengths
    words = cursor.source.words
    low = words[ends - _WORD].byteswap()
    high = words[ends - 2 * _WORD].byteswap()
    minus = cursor.source.data[starts] >= 0x80  # noqa: PLR2004  # the sign is the first bit
    sign = np.where(minus, _ALL, np.uint64(0))
    low = _kept(low, lengths, sign)
    high = np.where(lengths > _WORD, _kept(high, lengths - _WORD, sign), sign)
    wrong = ~_fits(low, high.view(np.int64), type_.precision) | _longer(cursor, where, sign)
    if wrong.any():
        cursor.fail(wrong, f"a decimal has more than {type_.precision} digits")
    return Flat(np.stack([low, high], axis=1), type_)


def _kept(word: Words, lengths: Ints, sign: Words) -> Words:
    """Give the lowest bytes of a word, so many, and the sign above them."""
    bits = (np.clip(lengths, 0, _WORD) * 8).astype(np.uint64)
    # A shift by all 64 bits does nothing, so it is done in two.
    above: Words = (_ALL << (bits >> np.uint64(1))) << (bits - (bits >> np.uint64(1)))
    kept: Words = (word & ~above) | (sign & above)
    return kept


def _fits(low: Words, high: Ints, precision: int) -> Mask:
    """Whether a number has no more digits; compared by its two halves."""
    limit = 10**precision
    top, bottom = np.int64(limit >> 64), np.uint64(limit & (2**64 - 1))
    below = (high < top) | ((high == top) & (low < bottom))
    limit = -limit
    top, bottom = np.int64(limit >> 64), np.uint64(limit & (2**64 - 1))
    fits: Mask = below & ((high > top) | ((high == top) & (low > bottom)))
    return fits


def _longer(cursor: Cursor, where: tuple[Ints, Ints], sign: Words) -> Mask:
    """Which numbers have more than 128 bits: bytes above those must repeat the sign."""
    starts, lengths = where
    wrong = np.zeros(len(starts), np.bool_)
    for place in np.flatnonzero(lengths > 2 * _WORD):
        end = starts[place] + lengths[place] - 2 * _WORD
        above = cursor.source.data[starts[place] : end]
        wrong[place] = (above != np.uint8(sign[place] & np.uint64(0xFF))).any()
    return wrong
