"""Many values read at once: a place in the bytes for each, moved on together.

A row that cannot be read is noted and put aside: its place becomes a run of zeros, which every
type can be read from, so that the others go on without a look at it. Such a reading is thrown
away as a whole, and done again without the rows that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Octets: TypeAlias = npt.NDArray[np.uint8]
Mask: TypeAlias = npt.NDArray[np.bool_]

_FRONT = 16
"""So many zeros stand before the bytes: a decimal is loaded by its end."""

_BACK = 64
_FAR = np.int64(2**62)
_MORE = 0x80
_WORD = 8
_STOPS = np.uint64(0x8080808080808080)
_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
# Seven bits of each byte move together in three steps, two halves at a time.
_JOINS = tuple(
    (np.uint64(low), np.uint64(high), np.uint64(shift))
    for low, high, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)
_ONE = np.uint64(1)
_SMALL = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(256)], np.int64)
_FEW = 4
_INT_BYTES = 5
ENDS_EARLY = "the bytes end before the value does"


class Source:
    """The bytes of some rows between zeros, and which of the rows failed."""

    def __init__(self, data: Octets, starts: Ints) -> None:
        self.data = np.zeros(_FRONT + len(data) + _BACK, np.uint8)
        self.data[_FRONT : _FRONT + len(data)] = data
        self.words: Words = np.ndarray(
            (len(self.data) - _WORD + 1,), np.dtype("<u8"), self.data, strides=(1,)
        )
        """The eight bytes from each place on, as one number."""
        self.view: memoryview = self.data.data
        self.begin = _FRONT
        self.park = _FRONT + len(data)
        self.starts = starts + _FRONT
        self.reasons: dict[int, str] = {}
        self.path: list[str] = []
        self._enders: Ints | None = None

    @property
    def enders(self) -> Ints:
        """The places of all bytes that a number can end with, in order."""
        if self._enders is None:
            self._enders = np.flatnonzero(self.data < _MORE)
        return self._enders

    def fail(self, rows: Ints, why: str) -> None:
        """Note why rows cannot be read; the first reason of a row stays."""
        reason = f'{why}, in "{".".join(self.path)}"' if self.path else why
        for row in np.unique(rows).tolist():
            self.reasons.setdefault(row, reason)

    def row_at(self, places: Ints) -> Ints:
        """Give the rows that hold these bytes."""
        return np.searchsorted(self.starts, places, side="right") - 1


class Cursor:
    """A place and an end for each value; `rows` are the rows they belong to."""

    __slots__ = ("at", "end", "rows", "source")

    def __init__(self, source: Source, at: Ints, end: Ints, rows: Ints) -> None:
        self.source = source
        self.at = at
        self.end = end
        self.rows = rows

    def __len__(self) -> int:
        return len(self.at)

    @property
    def lost(self) -> Mask:
        """Which values were put aside."""
        lost: Mask = self.end == _FAR
        return lost

    def each(self) -> Iterator[tuple[int, int, int]]:
        """Give number, place and end of each value that was not put aside."""
        chosen = np.flatnonzero(~self.lost)
        yield from zip(
            chosen.tolist(), self.at[chosen].tolist(), self.end[chosen].tolist(), strict=True
        )

    def part(self, chosen: Ints) -> Cursor:
        """Give some of the values a cursor of their own."""
        return Cursor(self.source, self.at[chosen], self.end[chosen], self.rows[chosen])

    def take_back(self, chosen: Ints, part: Cursor) -> None:
        """Go on where a part has got to."""
        self.at = self.at.copy()
        self.end = self.end.copy()
        self.at[chosen] = part.at
        self.end[chosen] = part.end

    def fail(self, lost: Mask, why: str) -> None:
        """Put values aside, and their rows."""
        self.source.fail(self.rows[lost & (self.end != _FAR)], why)
        self.at = np.where(lost, self.source.park, self.at)
        self.end = np.where(lost, _FAR, self.end)

    def read_long(self) -> Ints:
        """Read a number of variable length for each value."""
        self._stay_parked()
        first = self.source.data[self.at]
        value = _SMALL[first]
        if first.max(initial=0) < _MORE:
            self._move(self.at + 1)
            return value
        longer = np.flatnonzero(first >= _MORE)
        if len(longer) * _FEW > len(first):
            value, size = self._long_of(self.at)
            self._move(self.at + size)
            return value
        size = np.ones(len(first), np.int64)
        value[longer], size[longer] = self._long_of(self.at[longer], longer)
        self._move(self.at + size)
        return value

    def read_int(self) -> Ints:
        """Read a number that must have no more than 32 bits."""
        before = self.at
        value = self.read_long()
        wide = (value != value.astype(np.int32)) | (self.at - before > _INT_BYTES)
        if wide.any():
            self.fail(wide & (self.end != _FAR), "an int has more than 32 bits")
        return value

    def octet(self) -> Octets:
        """Read one byte for each value."""
        self._stay_parked()
        found = self.source.data[self.at]
        self._move(self.at + 1)
        return found

    def word(self, size: int) -> Words:
        """Read up to eight bytes for each value, as they lie, in a number."""
        self._stay_parked()
        found = self.source.words[self.at]
        self._move(self.at + size)
        return found

    def pass_over(self, sizes: Ints | int) -> Ints:
        """Go over so many bytes, and give where they begin."""
        self._stay_parked()
        over = (sizes > self.end - self.at) | (np.asarray(sizes) < 0)
        if over.any():
            self.fail(over, ENDS_EARLY)
            sizes = np.where(over, 0, sizes)
        starts = self.at
        self.at = starts + sizes
        return starts

    def text(self) -> tuple[Ints, Ints]:
        """Read a length and go over so many bytes; give where they begin, and how many."""
        lengths = self.read_long()
        starts = self.pass_over(lengths)
        return starts, np.where(self.end == _FAR, 0, lengths) if self.source.reasons else lengths

    def finish(self) -> None:
        """Fail where bytes are left."""
        self._stay_parked()
        left = (self.at != self.end) & (self.end != _FAR)
        if left.any():
            self.fail(left, "there are bytes after the value")

    def _long_of(self, at: Ints, chosen: Ints | None = None) -> tuple[Ints, Ints]:
        word = self.source.words[at]
        stop = ~word
        stop &= _STOPS
        within = stop - _ONE
        within ^= stop
        size = (np.bitwise_count(within) >> 3).astype(np.int64)
        word &= within
        word &= _BITS
        for low, high, shift in _JOINS:
            upper = word & high
            upper >>= shift
            word &= low
            word |= upper
        endless = stop == 0
        if endless.any():
            self._longest(at, word, size, np.flatnonzero(endless), chosen)
        value = (word >> _ONE).view(np.int64)
        word &= _ONE
        value ^= -word.view(np.int64)
        return value, size

    def _longest(
        self, at: Ints, word: Words, size: Ints, places: Ints, chosen: Ints | None
    ) -> None:
        """Read the ninth and tenth byte of those numbers that have them."""
        rest = self.source.words[at[places] + _WORD]
        ninth, tenth = rest & np.uint64(0xFF), rest >> np.uint64(8) & np.uint64(0xFF)
        more = ninth >= _MORE
        word[places] |= (ninth & np.uint64(0x7F)) << np.uint64(56)
        word[places] |= np.where(more, tenth << np.uint64(63), np.uint64(0))
        size[places] = np.where(more, _WORD + 2, _WORD + 1)
        wrong = more & (tenth > 1)
        if wrong.any():
            lost = np.zeros(len(self), np.bool_)
            lost[places[wrong] if chosen is None else chosen[places[wrong]]] = True
            self.fail(lost, "a number has more than 64 bits")
            size[places[wrong]] = 0

    def _move(self, at: Ints) -> None:
        self.at = at
        over = at > self.end
        if over.any():
            self.fail(over, ENDS_EARLY)

    def _stay_parked(self) -> None:
        # Nobody is parked as long as no row has failed, which is the rule.
        if self.source.reasons:
            self.at = np.where(self.end == _FAR, self.source.park, self.at)
