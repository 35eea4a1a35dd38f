"""Hashes and random numbers as Java has them, so that a key goes where Storm sends it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence

from penstock.errors import ModelError

_INT = 1 << 32
_LONG = 1 << 64
_MULTIPLIER = 0x5DEECE66D
_NAN = 0x7FF8000000000000
_MASK = (1 << 48) - 1


class JavaLong(int):
    """A number that Java holds as a long: a small one below zero hashes otherwise than an int."""

    __slots__ = ()


def java_hash(value: object) -> int:
    """Give `hashCode` of the value that Java has in this one's place, as a signed 32-bit number."""
    if value is None:
        return 0
    for kind, rule in _RULES:
        if isinstance(value, kind):
            return rule(value)
    raise ModelError(
        "GROUPING_VALUE",
        f"a value of type {type(value).__name__} has no hash that is the same in every process",
        hint="Group by text, bytes, numbers, booleans, or lists of these.",
    )


def list_hash(values: Iterable[object]) -> int:
    """Give the hash of a list, from those of its values."""
    return _polynomial(java_hash(value) for value in values)


def bytes_hash(data: bytes) -> int:
    """Give the hash of an array of bytes, by its content."""
    return _polynomial(byte - 256 if byte > 127 else byte for byte in data)  # noqa: PLR2004


class JavaRandom:
    """The random numbers of `java.util.Random` for a seed."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def below(self, bound: int) -> int:
        """Give the next number from 0 up to, not including, a bound."""
        drawn = self._bits31()
        if bound & (bound - 1) == 0:
            return (bound * drawn) >> 31
        # A draw from the last, incomplete run of the bound would favour the small numbers.
        while drawn - drawn % bound + bound - 1 >= 1 << 31:
            drawn = self._bits31()
        return drawn % bound

    def _bits31(self) -> int:
        self._state = (self._state * _MULTIPLIER + 11) & _MASK
        return self._state >> 17


def _signed(value: int) -> int:
    value %= _INT
    return value - _INT if value >= _INT >> 1 else value


def _polynomial(hashes: Iterable[int], start: int = 1) -> int:
    total = start
    for value in hashes:
        total = (31 * total + value) % _INT
    return _signed(total)


def _folded(bits: int) -> int:
    return _signed((bits ^ (bits >> 32)) % _INT)


def _integer(value: int) -> int:
    if isinstance(value, JavaLong) and -(_LONG >> 1) <= value < _LONG >> 1:
        return _folded(value % _LONG)
    if -(_INT >> 1) <= value < _INT >> 1:
        return int(value)
    if -(_LONG >> 1) <= value < _LONG >> 1:
        return _folded(value % _LONG)
    size = (abs(value).bit_length() + 31) // 32
    words = struct.unpack(f">{size}I", abs(value).to_bytes(4 * size, "big"))
    return _signed(_polynomial(words, 0) * (-1 if value < 0 else 1))


def _double(value: float) -> int:
    # Java has one NaN, whatever bits this one has.
    bits = _NAN if math.isnan(value) else struct.unpack(">Q", struct.pack(">d", value))[0]
    return _folded(bits)


def _text(value: str) -> int:
    units = value.encode("utf-16-be", "surrogatepass")
    return _polynomial(struct.unpack(f">{len(units) // 2}H", units), 0)


def _boolean(value: bool) -> int:  # noqa: FBT001
    return 1231 if value else 1237


def _sequence(values: Sequence[object]) -> int:
    return list_hash(values)


_RULES: tuple[tuple[type | tuple[type, ...], Callable[..., int]], ...] = (
    (bool, _boolean),
    (int, _integer),
    (float, _double),
    (str, _text),
    ((bytes, bytearray), bytes_hash),
    ((list, tuple), _sequence),
)
