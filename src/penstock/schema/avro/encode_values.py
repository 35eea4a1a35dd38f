"""Values without parts as bytes, a column at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.avro.decode_cursor import Ints, Mask, Octets, Words
from penstock.schema.avro.encode_place import Place, require, valid_of
from penstock.schema.avro.encode_segments import WORD, Long, Segment, Short, number, small
from penstock.schema.avro.nodes import Enum, Fixed, Logical, Primitive

_INT_MOST = 2**31 - 1
_LONG_MOST = 2**63 - 1
_PER_MILLISECOND = {"micros": 1_000, "nanos": 1_000_000}
_UUID_TEXT = 36
_DASHES = (8, 13, 18, 23)
_NO_DIGIT = 16
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_DIGITS[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)
_BYTE = np.uint64(8)


def write_value(  # noqa: PLR0911  # one a kind
    node: Primitive | Fixed | Enum, array: pa.Array, live: Mask | None, place: Place
) -> list[Segment]:
    """Write a column of a type without parts; rows that are not `live` get no bytes."""
    if node == Primitive("null"):
        place.refuse(valid_of(array), "is not null, and its type is null")
        return []
    require(array, live, place)
    match node:
        case Enum():
            return _symbols(node, array, live, place)
        case Fixed():
            return _fixed(node, array, live, place)
        case Primitive(name="boolean"):
            return small(_plain(array.cast(pa.uint8())), live)
        case Primitive(name="int" | "long"):
            return _number(node, array, live, place)
        case Primitive(name="float" | "double"):
            return _real(node, array, live, place)
        case _:
            return _octets(node, array, live)


def _number(node: Primitive, array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
    value = _plain(_counted(array)).astype(np.int64)
    unit = _unit(node.logical)
    if unit != 1:
        place.refuse(np.abs(value) > _LONG_MOST // unit, "is a time that a long cannot count")
        value = value * unit
    if node.name == "int":
        place.refuse((value > _INT_MOST) | (value < -_INT_MOST - 1), "is too large for an int")
    return number(value, live)


def _counted(array: pa.Array) -> pa.Array:
    """Give dates and times as the numbers that they are stored as."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        return array.view(pa.int64())
    return array.view(pa.int32()) if pa.types.is_date32(kind) or pa.types.is_time32(kind) else array


def _unit(logical: Logical | None) -> int:
    return _PER_MILLISECOND.get(logical.name.rpartition("-")[2], 1) if logical else 1


def _real(node: Primitive, array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
    value = _plain(array).astype(np.float64)
    if node.name == "double":
        return [Short(value.view(np.uint64), _sizes(len(value), WORD, live))]
    with np.errstate(over="ignore"):
        narrow = value.astype(np.float32)
    place.refuse(np.isinf(narrow) & np.isfinite(value), "is too large for a float")
    return [Short(narrow.view(np.uint32).astype(np.uint64), _sizes(len(value), 4, live))]


def _octets(node: Primitive, array: pa.Array, live: Mask | None) -> list[Segment]:
    if pa.types.is_decimal(array.type):
        low, high = _halves(array)
        sizes = _shortest(low, high)
        return [
            *number(sizes, live),
            *_big_endian(low, high, sizes if live is None else sizes * live),
        ]
    if node.name == "string" and not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    return [*number(_lengths(array), live), Long(array.view(pa.binary()))]


def _fixed(node: Fixed, array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
    if pa.types.is_decimal(array.type):
        low, high = _halves(array)
        wrong = _shortest(low, high) > node.size
        place.refuse(wrong if live is None else wrong & live, f"is too large for {node.size} bytes")
        return _big_endian(low, high, _sizes(len(low), node.size, live))
    if pa.types.is_string(array.type):
        return _uuid(array, live, place)
    wrong = _lengths(array) != node.size
    place.refuse(
        wrong if live is None else wrong & live, f"has not the {node.size} bytes of {node.name}"
    )
    return [Long(array.view(pa.binary()))]


def _symbols(node: Enum, array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
    places = pc.index_in(array, value_set=pa.array(node.symbols, pa.string()))
    strange = ~valid_of(places)
    place.refuse(strange if live is None else strange & live, f"is no symbol of {node.name}")
    return number(_plain(places).astype(np.int64), live)


def _uuid(array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
    """Write a text with dashes as the sixteen bytes that it says."""
    if live is None:
        live = np.ones(len(array), np.bool_)
    place.refuse((_lengths(array) != _UUID_TEXT) & live, "is no UUID")
    starts = _offsets(array)[:-1][live]
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    text: Octets = data[starts[:, None] + np.arange(_UUID_TEXT)]
    wrong = np.zeros(len(array), np.bool_)
    digits = _DIGITS[np.delete(text, _DASHES, axis=1)]
    wrong[live] = (digits == _NO_DIGIT).any(axis=1) | (text[:, _DASHES] != ord("-")).any(axis=1)
    place.refuse(wrong, "is no UUID")
    octets = np.zeros((len(array), 2 * WORD), np.uint8)
    octets[live] = digits[:, ::2] << 4 | digits[:, 1::2]
    words = octets.view("<u8")
    return [Short(words[:, half].copy(), _sizes(len(array), WORD, live)) for half in (0, 1)]


def _halves(array: pa.Array) -> tuple[Words, Words]:
    """Give the lower and the upper 64 bits of decimals."""
    end = array.offset + len(array)
    words = np.frombuffer(array.buffers()[1], "<u8", 2 * end).reshape(-1, 2)[array.offset :]
    return words[:, 0].copy(), words[:, 1].copy()


def _shortest(low: Words, high: Words) -> Ints:
    """Give how few bytes can hold each number, and its sign."""
    minus = high.view(np.int64) < 0
    low, high = np.where(minus, ~low, low), np.where(minus, ~high, high)
    sizes = np.ones(len(low), np.int64)
    # One byte more for each that the number reaches into, or its sign.
    for bits in range(7, 64, 8):
        sizes += (high > 0) | (low >= np.uint64(1 << bits))
    for bits in range(7, 63, 8):
        sizes += high >= np.uint64(1 << bits)
    return sizes


def _big_endian(low: Words, high: Words, sizes: Ints) -> list[Segment]:
    """Write the lowest bytes of numbers, so many, the highest first."""
    most = int(sizes.max(initial=0))
    sign = (high.view(np.int64) >> 63).view(np.uint64)
    segments: list[Segment] = []
    for above in range(-(-most // WORD) - 1, -1, -1):
        word = (low, high)[above] if above < 2 else sign  # noqa: PLR2004  # two halves there are
        here = np.clip(sizes - WORD * above, 0, WORD)
        unused = ((WORD - here) * 8).astype(np.uint64)
        swapped = word.byteswap() >> np.minimum(unused, np.uint64(63))
        segments.append(Short(swapped, here))
    return segments


def _plain(array: pa.Array) -> npt.NDArray[Any]:
    """Give values as numbers; a null is zero, and not written."""
    values = array.fill_null(0) if array.null_count else array
    found: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return found


def _sizes(count: int, size: int, live: Mask | None) -> Ints:
    return np.full(count, size, np.int64) if live is None else live.astype(np.int64) * size


def _offsets(array: pa.Array) -> Ints:
    if len(array) == 0:
        return np.zeros(1, np.int64)
    found = np.frombuffer(array.buffers()[1], np.int32, array.offset + len(array) + 1)
    return found[array.offset :].astype(np.int64)


def _lengths(array: pa.Array) -> Ints:
    return np.diff(_offsets(array))
