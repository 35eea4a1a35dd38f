"""Where the items of arrays and maps lie, those of all values at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from penstock.schema.avro.decode_cursor import ENDS_EARLY, Cursor, Ints
from penstock.schema.avro.decode_skip import FEW, Skipper, skip_wide
from penstock.schema.avro.decode_walk import TooShort, read_long
from penstock.schema.avro.nodes import Enum, Node, Primitive

_BLOCKS = 3
"""Writers put all items into one block, and no items into the last; more are hardly ever met."""

_EMPTY_ITEMS = 16
"""So many more items than bytes are believed, where an item takes no bytes."""


@dataclass(frozen=True, slots=True)
class Items:
    """Where each item begins, which value it is of, and how many each value has."""

    starts: Ints
    places: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class _Found:
    """What is found so far, in no order: blocks of values, and where their items begin."""

    places: list[Ints] = field(default_factory=list)
    starts: list[Ints] = field(default_factory=list)

    def add(self, places: Ints, starts: Ints) -> None:
        self.places.append(places)
        self.starts.append(starts)

    def items(self, count: int) -> Items:
        if len(self.places) == 1:
            places, starts = self.places[0], self.starts[0]
        else:
            places = np.concatenate([np.zeros(0, np.int64), *self.places])
            starts = np.concatenate([np.zeros(0, np.int64), *self.starts])
            order = np.argsort(places, kind="stable")
            places, starts = places[order], starts[order]
        return Items(starts, places, np.bincount(places, minlength=count))


class ItemFinder:
    """Finds items of a schema's arrays and maps; an item may have parts, as a map's has two."""

    def __init__(self, skipper: Skipper) -> None:
        self._skipper = skipper

    def find(self, cursor: Cursor, parts: tuple[Node, ...]) -> Items:
        """Go over all items of each value."""
        found = _Found()
        current, places = cursor, np.arange(len(cursor))
        begin, width = cursor.at, self._skipper.widths.of(*parts)
        total = np.zeros(len(cursor), np.int64)
        turns: list[tuple[Cursor, Ints, Cursor]] = []
        while len(current):
            if len(turns) >= _BLOCKS and len(current) <= FEW:
                self._one_by_one(current, places, parts, found)
                break
            counts, said = self._counts(current)
            total[places] += counts
            if width == 0:
                self._believe(current, counts, total[places], begin[places])
            chosen = np.flatnonzero(counts)
            part = current.part(chosen)
            turns.append((current, chosen, part))
            current, places = part, places[chosen]
            self._block(part, counts[chosen], (places, parts), found)
            wrong = (said[chosen] >= 0) & (part.at != said[chosen])
            if wrong.any():
                part.fail(wrong & ~part.lost, "a block does not end where it says")
        for whole, chosen, part in reversed(turns):
            whole.take_back(chosen, part)
        return found.items(len(cursor))

    def _counts(self, cursor: Cursor) -> tuple[Ints, Ints]:
        """Read how many items the next block has, and where it says to end; -1 if nowhere."""
        counts = cursor.read_long()
        said = np.full(len(counts), -1, np.int64)
        sized = np.flatnonzero(counts < 0)
        if len(sized):
            part = cursor.part(sized)
            size = part.read_long()
            # Nothing ends at 0, as no block has fewer bytes than none.
            said[sized] = np.where(size < 0, 0, part.at + size)
            cursor.take_back(sized, part)
            counts = np.abs(counts)
        return counts, said

    def _believe(self, cursor: Cursor, counts: Ints, total: Ints, begin: Ints) -> None:
        wrong = (counts < 0) | (counts > cursor.end) | (total > cursor.end - begin + _EMPTY_ITEMS)
        if wrong.any():
            cursor.fail(wrong, "an array has more items than its bytes can hold")
            counts[cursor.lost] = 0

    def _block(
        self, cursor: Cursor, counts: Ints, whose: tuple[Ints, tuple[Node, ...]], found: _Found
    ) -> None:
        places, parts = whose
        width = self._skipper.widths.of(*parts)
        if width != 0:
            wrong = (counts < 0) | (counts > cursor.end - cursor.at)
            if wrong.any():
                cursor.fail(wrong, "an array has more items than its bytes can hold")
                counts = np.where(cursor.lost, 0, counts)
        if not len(cursor):
            return
        if width is not None:
            self._wide(cursor, counts, width, (places, found))
        elif len(parts) == 1 and isinstance(parts[0], Primitive | Enum) and _is_number(parts[0]):
            self._numbers(cursor, counts, (places, found))
        else:
            self._rounds(cursor, counts, whose, found)

    def _wide(self, cursor: Cursor, counts: Ints, width: int, whose: tuple[Ints, _Found]) -> None:
        starts = skip_wide(cursor, counts, width)
        counts = np.where(cursor.lost, 0, counts)
        places, found = whose
        found.add(np.repeat(places, counts), np.repeat(starts, counts) + width * _within(counts))

    def _numbers(self, cursor: Cursor, counts: Ints, whose: tuple[Ints, _Found]) -> None:
        """Find numbers of variable length by their last bytes, however many one value has."""
        enders = cursor.source.enders
        first = np.searchsorted(enders, cursor.at)
        last = np.minimum(first + counts, len(enders)) - 1
        over = (counts > 0) & ((first + counts > len(enders)) | (enders[last] >= cursor.end))
        if over.any():
            cursor.fail(over, ENDS_EARLY)
            counts = np.where(cursor.lost, 0, counts)
        places, found = whose
        within = _within(counts)
        before = np.repeat(first, counts) + within - 1
        starts = np.where(within == 0, np.repeat(cursor.at, counts), enders[before] + 1)
        found.add(np.repeat(places, counts), starts)
        cursor.at = np.where(counts > 0, enders[last] + 1, cursor.at)

    def _rounds(
        self, cursor: Cursor, left: Ints, whose: tuple[Ints, tuple[Node, ...]], found: _Found
    ) -> None:
        """Go over the first item of each value, then the second of those that have one."""
        places, parts = whose
        turns: list[tuple[Cursor, Ints, Cursor]] = []
        current = cursor
        while len(current):
            if len(current) <= FEW:
                self._few(current, left, (places, parts), found)
                break
            found.add(places, current.at)
            for node in parts:
                self._skipper.skip(current, node)
            left = np.where(current.lost, 0, left - 1)
            chosen = np.flatnonzero(left)
            if len(chosen) < len(current):
                part = current.part(chosen)
                turns.append((current, chosen, part))
                current, places, left = part, places[chosen], left[chosen]
        for whole, chosen, part in reversed(turns):
            whole.take_back(chosen, part)

    def _few(
        self, cursor: Cursor, left: Ints, whose: tuple[Ints, tuple[Node, ...]], found: _Found
    ) -> None:
        """Go over the items that a few values have left in a block, one by one."""
        places, parts = whose

        def rest(value: int, bounds: tuple[int, int]) -> tuple[list[int], int]:
            starts: list[int] = []
            return starts, self._walk(cursor, (int(left[value]), parts), bounds, starts)

        _each(cursor, places, found, rest)

    def _one_by_one(
        self, cursor: Cursor, places: Ints, parts: tuple[Node, ...], found: _Found
    ) -> None:
        """Go over all blocks of a few values that have many."""
        view = cursor.source.view

        def blocks(_: int, bounds: tuple[int, int]) -> tuple[list[int], int]:
            starts: list[int] = []
            begin, end = bounds
            count, at = read_long(view, begin)
            while count:
                said = None
                if count < 0:
                    size, at = read_long(view, at)
                    count, said = -count, at + size
                if len(starts) + count > end - begin + _EMPTY_ITEMS:
                    raise TooShort
                at = self._walk(cursor, (count, parts), (at, end), starts)
                if said not in (None, at):
                    raise TooShort
                count, at = read_long(view, at)
            return starts, at

        _each(cursor, places, found, blocks)

    def _walk(
        self,
        cursor: Cursor,
        what: tuple[int, tuple[Node, ...]],
        bounds: tuple[int, int],
        starts: list[int],
    ) -> int:
        walk, view = self._skipper.walker.walk, cursor.source.view
        (count, parts), (at, end) = what, bounds
        for _ in range(count):
            starts.append(at)
            for node in parts:
                at = walk(view, at, end, node)
        return at


def _each(
    cursor: Cursor,
    places: Ints,
    found: _Found,
    go: Callable[[int, tuple[int, int]], tuple[list[int], int]],
) -> None:
    """Go over the items of each value in turn."""
    ends, lost = cursor.at.copy(), np.zeros(len(cursor), np.bool_)
    for value, at, end in cursor.each():
        try:
            starts, ends[value] = go(value, (at, end))
        except TooShort:
            lost[value] = True
        else:
            found.add(np.full(len(starts), places[value]), np.array(starts, np.int64))
    cursor.at = ends
    if lost.any():
        cursor.fail(lost, ENDS_EARLY)


def _is_number(node: Primitive | Enum) -> bool:
    return isinstance(node, Enum) or node.name in ("int", "long")


def _within(counts: Ints) -> Ints:
    """Give 0, 1, 2 and so on for each value."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
