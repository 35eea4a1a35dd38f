"""The bytes of plain Avro values, read within bounds and written."""

from __future__ import annotations

import struct
from typing import NoReturn

from penstock.errors import SchemaError

_SPARE_ITEMS = 100_000
_MORE, _SEVEN, _LAST_SHIFT = 0x80, 0x7F, 63
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
INT_RANGE = range(-(2**31), 2**31)
LONG_RANGE = range(-(2**63), 2**63)


def bytes_refused(fact: str) -> SchemaError:
    """Give the error for bytes that are no value of their schema."""
    return SchemaError(
        "AVRO_BYTES",
        f"the bytes are no Avro value of their schema: {fact}",
        hint="Read them with the schema that they were written with.",
    )


class ByteReader:
    """Reads plain values one after another; what is not there is refused, not read."""

    __slots__ = ("_data", "_items", "at")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0
        # Items and records may take no bytes at all, so their number needs a bound of its own.
        self._items = len(data) + _SPARE_ITEMS

    @property
    def left(self) -> int:
        """How many bytes are not read yet."""
        return len(self._data) - self.at

    def take(self, size: int) -> bytes:
        """Read so many bytes."""
        if not 0 <= size <= self.left:
            self._refuse(f"{size} bytes are wanted and {self.left} are left")
        start, self.at = self.at, self.at + size
        return self._data[start : self.at]

    def read_long(self) -> int:
        """Read a whole number of 64 bits."""
        data, at, shift, result = self._data, self.at, 0, 0
        while True:
            if at >= len(data):
                self._refuse("they end inside of a number")
            byte = data[at]
            at += 1
            result |= (byte & _SEVEN) << shift
            if byte < _MORE:
                break
            shift += 7
            if shift > _LAST_SHIFT:
                self._refuse("a number has more than 64 bits")
        if shift == _LAST_SHIFT and byte > 1:
            self._refuse("a number has more than 64 bits")
        self.at = at
        return (result >> 1) ^ -(result & 1)

    def read_int(self) -> int:
        """Read a whole number of 32 bits."""
        value = self.read_long()
        if value not in INT_RANGE:
            self._refuse("an int has more than 32 bits")
        return value

    def read_boolean(self) -> bool:
        """Read true or false."""
        byte = self.take(1)[0]
        if byte > 1:
            self._refuse(f"a boolean is {byte}")
        return byte == 1

    def read_float(self) -> float:
        """Read a number of 32 bits."""
        value: float = _FLOAT.unpack(self.take(4))[0]
        return value

    def read_double(self) -> float:
        """Read a number of 64 bits."""
        value: float = _DOUBLE.unpack(self.take(8))[0]
        return value

    def read_bytes(self) -> bytes:
        """Read bytes after their number."""
        return self.take(self.read_long())

    def read_string(self) -> str:
        """Read text."""
        return text_of(self.read_bytes())

    def read_place(self, count: int, what: str) -> int:
        """Read the place of one of so many."""
        place = self.read_long()
        if not 0 <= place < count:
            self._refuse(f"{what} {place} is asked for and there are {count}")
        return place

    def read_block(self) -> tuple[int, int | None]:
        """Read how many items follow, and their bytes where the writer tells."""
        count, size = self.read_long(), None
        if count < 0:
            count, size = -count, self.read_long()
            if not 0 <= size <= self.left:
                self._refuse(f"a block of {size} bytes begins and {self.left} are left")
        self.charge(count)
        return count, size

    def charge(self, items: int) -> None:
        """Count items and records, which may take no bytes; far more than bytes are refused."""
        self._items -= items
        if self._items < 0:
            self._refuse(f"they say to hold {items} more items than they can")

    def check_at(self, end: int | None) -> None:
        """Refuse a block that does not end where it said."""
        if end is not None and self.at != end:
            self._refuse(f"a block was said to end at byte {end}")

    def end(self) -> None:
        """Refuse bytes after the value."""
        if self.left:
            self._refuse(f"{self.left} bytes are left after the value")

    def _refuse(self, fact: str) -> NoReturn:
        raise bytes_refused(f"{fact}, at byte {self.at}")


def text_of(data: bytes) -> str:
    """Give bytes as text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise bytes_refused("a string is not UTF-8") from None


def long_bytes(value: int) -> bytes:
    """Give the bytes of an int or a long, seven bits each, the lowest first."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > _SEVEN:
        out.append((rest & _SEVEN) | _MORE)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def float_bytes(value: float) -> bytes:
    """Give the bytes of a float; one that does not fit raises `OverflowError`."""
    return _FLOAT.pack(float(value))


def double_bytes(value: float) -> bytes:
    """Give the bytes of a double; one that does not fit raises `OverflowError`."""
    return _DOUBLE.pack(float(value))


def narrowed(value: float) -> float:
    """Give a number as 32 bits hold it; one too great for them is infinite."""
    try:
        narrow: float = _FLOAT.unpack(float_bytes(value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return narrow
