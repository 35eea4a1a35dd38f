"""Walks over rows by their bits: every place that may be next at once, the better first.

What may be next is a node; which node a row leads to depends on its bits alone, and is worked
out once. So a row costs one look-up, whatever the pattern, and no pattern takes more than one
pass over its rows. Where conditions ask for rows matched before, the walk takes them as met:
it finds every match there is, and some more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from penstock.kernel.match_automaton import ACCEPT, GAP, Automaton, Entry
from penstock.kernel.match_condition import Conditions

End: TypeAlias = tuple[int, int]
"""Where a match ends: the place after its last row, and the entry of the node there."""
NO_END: End = (-1, -1)
ACCEPTS = 1
OVER = 2
BEFORE = 4
"""Marks of a node: a match ends here, nothing more can follow, a match has ended before."""
_MOST_NODES = 20_000
_SHORT = 64
"""Rows of a match up to which it is worth while to remember how it was matched."""


class Labels(NamedTuple):
    """The rows of a match, counted from its first, and the place that took each."""

    rows: tuple[int, ...]
    places: tuple[int, ...]


NO_MATCH = Labels((), ())


@dataclass(slots=True)
class Node:
    """What may be next, and what the rows so far amount to.

    `mark` is 0 where nothing was decided. `before` is the entry of the node before that ended
    the match there, once it was known that the row after it does not matter. `at_end` is the
    entry that ends the match if no row comes any more. Both are -1 where there is none.
    """

    entries: tuple[tuple[int, int], ...]
    mark: int
    before: int
    at_end: int
    next: dict[int, Node] = field(default_factory=dict)
    origins: dict[int, tuple[int, ...]] = field(default_factory=dict)


class Walk:
    """Finds the preferred match of the rows from one on."""

    def __init__(self, automaton: Automaton, conditions: Conditions) -> None:
        bits = [condition.bit for condition in conditions.all]
        sure = [
            0 if condition.dynamic is not None else condition.bit for condition in conditions.all
        ]
        self._needs = [bits[place.needs] for place in automaton.places]
        self._forbids = [_any(sure, place.forbids) for place in automaton.places]
        self._after = [_guarded(entries, sure) for entries in automaton.after]
        self._first = _guarded(automaton.first, sure)
        self._gaps = [place.step == GAP for place in automaton.places]
        self._labels: dict[tuple[tuple[int, ...], int], Labels] = {}
        self._nodes: dict[object, Node] = {}
        self.root = self._node(self._first, -1)

    def starts(self) -> list[tuple[int, int]]:
        """Give the bits a row must have all of, and may have none of, to begin a match."""
        return [(self._needs[place], self._forbids[place]) for place, _ in self._first]

    def ignores(self, bits: int) -> bool:
        """Whether a row with these bits begins nothing and changes nothing, wherever it comes."""
        following = (self._node(entries, -1) for entries in self._after)
        begins = self.advance(self.root, bits).entries
        return not begins and all(_same(node, self.advance(node, bits)) for node in following)

    def ends(self, bits: Sequence[int], span: tuple[int, int], *, closed: bool) -> End | None:
        """Give where the preferred match of the rows in a span ends, or none while it may change.

        `closed` says that no row comes any more.
        """
        start, stop = span
        node, at = self.root, start
        best = NO_END
        while at < stop:
            found = bits[at]
            node = node.next.get(found) or self.advance(node, found)
            at += 1
            if node.mark:
                best = better(node, at, best)
                if node.mark & OVER:
                    return best
        if not closed:
            return None
        return best if node.at_end < 0 else (at, node.at_end)

    def labels(self, bits: Sequence[int], start: int, end: End) -> Labels:
        """Give the rows of the match that begins and ends there."""
        stop, entry = end
        taken = tuple(bits[start:stop])
        if len(taken) > _SHORT:
            return self._traced(taken, entry)
        if (taken, entry) not in self._labels:
            if len(self._labels) > _MOST_NODES:
                self._labels.clear()
            self._labels[taken, entry] = self._traced(taken, entry)
        return self._labels[taken, entry]

    def _traced(self, bits: tuple[int, ...], entry: int) -> Labels:
        """Follow the way back from an entry of the node after these rows."""
        nodes = [self.root]
        for found in bits:
            nodes.append(nodes[-1].next.get(found) or self.advance(nodes[-1], found))
        rows, places = [], []
        for row in reversed(range(len(bits))):
            entry = nodes[row].origins[bits[row]][entry]
            place = nodes[row].entries[entry][0]
            if not self._gaps[place]:
                rows.append(row)
                places.append(place)
        return Labels(tuple(reversed(rows)), tuple(reversed(places)))

    def advance(self, node: Node, bits: int) -> Node:
        """Give the node that a row with these bits leads to."""
        entries: dict[tuple[int, int], int] = {}
        before = -1
        for number, (place, guards) in enumerate(node.entries):
            if guards & bits or (place == ACCEPT and not guards):
                continue
            if place == ACCEPT:
                before = number
                break
            needs = self._needs[place]
            if bits & needs == needs and not bits & self._forbids[place]:
                for entry in self._after[place]:
                    entries.setdefault(entry, number)
                if (ACCEPT, 0) in entries:
                    break  # what follows is never preferred
        following = self._node(tuple(entries), before)
        node.next[bits] = following
        node.origins[bits] = tuple(entries.values())
        return following

    def _node(self, entries: tuple[tuple[int, int], ...], before: int) -> Node:
        key = (entries, before)
        if key not in self._nodes:
            if len(self._nodes) > _MOST_NODES:
                self._forget()
            self._nodes[key] = _node(entries, before)
        return self._nodes[key]

    def _forget(self) -> None:
        """Begin again with what is known, so that a strange pattern does not fill the memory."""
        self._nodes.clear()
        self.root = _node(self._first, -1)
        self._nodes[self._first, -1] = self.root


def better(node: Node, at: int, best: End) -> End:
    """Give where the match ends that is preferred after a row, which led to this node."""
    if node.mark & ACCEPTS:
        return at, len(node.entries) - 1
    return (at - 1, node.before) if node.mark & BEFORE else best


def _same(node: Node, following: Node) -> bool:
    """Whether the same may be next; a match that has ended there is known already."""
    left = tuple(entry for entry in node.entries if entry != (ACCEPT, 0))
    return following.entries == left and following.before < 0


def _node(entries: tuple[tuple[int, int], ...], before: int) -> Node:
    ends = (number for number, (place, _) in enumerate(entries) if place == ACCEPT)
    return Node(entries, _mark(entries, before), before, next(ends, -1))


def _mark(entries: tuple[tuple[int, int], ...], before: int) -> int:
    mark = BEFORE if before >= 0 else 0
    if (ACCEPT, 0) in entries:
        mark |= ACCEPTS
    if all(entry == (ACCEPT, 0) for entry in entries):
        mark |= OVER
    return mark


def _guarded(entries: Sequence[Entry], sure: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Give the entries with their guards as bits; one that is not sure never holds."""
    return tuple((place, _any(sure, guards)) for place, guards in entries)


def _any(bits: Sequence[int], tests: Sequence[int]) -> int:
    total = 0
    for test in tests:
        total |= bits[test]
    return total
