"""A pattern as places for rows, and which place may come after which, in the order preferred.

Every place takes one row. What comes after it is a list of entries: the next places to try,
the better first, or the end of the match. An entry may be guarded: it holds only if the next
row, should there be one, does not pass some tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.expr import Expr
from penstock.model.pattern import Pattern
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
)

ACCEPT = -1
"""The place of an entry that ends the match."""
GAP = -1
"""The step of a place for rows that are left out."""
ANY_ROW = 0
"""The number of the test that every row passes."""
NO_STEP = ""
"""What a row counts as that is tested for the end of a repetition."""


@dataclass(frozen=True, slots=True)
class Test:
    """A condition, as it is for a row tried for a step; without one every row passes."""

    __test__ = False

    step: str
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Place:
    """Takes a row that passes the test `needs` and none of the tests `forbids`."""

    step: int
    needs: int
    forbids: tuple[int, ...]
    hidden: bool


Entry: TypeAlias = tuple[int, tuple[int, ...]]
"""A place or `ACCEPT`, and the tests that the next row must not pass."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """The places of a pattern: `first` to begin with, and what comes after each."""

    tests: tuple[Test, ...]
    places: tuple[Place, ...]
    first: tuple[Entry, ...]
    after: tuple[tuple[Entry, ...], ...]


def automaton_of(pattern: Pattern) -> Automaton:
    """Give the places of a pattern."""
    builder = _Builder(pattern)
    begin = builder.add(pattern.body, builder.node(_Accept()))
    return builder.finished(begin)


@dataclass(slots=True)
class _Take:
    place: int
    next: int


@dataclass(slots=True)
class _Split:
    better: int
    worse: int


@dataclass(slots=True)
class _Guard:
    test: int
    next: int


@dataclass(slots=True)
class _Iteration:
    """The begin, or the end, of an iteration that must take a row."""

    number: int
    begins: bool
    next: int


@dataclass(slots=True)
class _Accept:
    pass


_Node: TypeAlias = _Take | _Split | _Guard | _Iteration | _Accept


class _Builder:
    """Builds from the end: each part is told the node that comes after it."""

    def __init__(self, pattern: Pattern) -> None:
        self._numbers = {step.name: number for number, step in enumerate(pattern.steps)}
        self._tests: dict[Test, int] = {Test(NO_STEP, None): ANY_ROW}
        self._places: list[Place] = []
        self._nodes: list[_Node] = []
        self._iterations = 0
        self._others: list[tuple[int, int]] = []
        self._until: tuple[int, ...] = ()
        self._hidden = False

    def node(self, node: _Node) -> int:
        self._nodes.append(node)
        return len(self._nodes) - 1

    def add(self, part: Part, after: int) -> int:
        """Add a part before a node; give the node it begins with."""
        match part:
            case PatternStep(name):
                return self._take(self._numbers[name], self._test(part), after)
            case InOrder(parts):
                return self._in_order(parts, after)
            case OneOf(parts):
                begins = [self.add(item, after) for item in parts]
                return self._first_of(begins)
            case Times():
                return self._times(part, after)
            case Hidden(inner):
                before, self._hidden = self._hidden, True
                begin = self.add(inner, after)
                self._hidden = before
                return begin
            case Gap() | NotNext() | Absent():
                return self._not_matched(part, after)

    def finished(self, begin: int) -> Automaton:
        """Give the automaton that begins with a node."""
        for place, following in self._others:
            entries = self._entries(following)
            begins = (self._places[found] for found, _ in entries if found != ACCEPT)
            tests = (found.needs for found in begins if found.step != GAP)
            gap = self._places[place]
            self._places[place] = Place(GAP, gap.needs, (*gap.forbids, *tests), gap.hidden)
        after = {
            node.place: tuple(self._entries(node.next))
            for node in self._nodes
            if isinstance(node, _Take)
        }
        return Automaton(
            tuple(self._tests),
            tuple(self._places),
            # Rows can be left out between two rows of a match only, not before its first.
            tuple(entry for entry in self._entries(begin) if self._places[entry[0]].step != GAP),
            tuple(after[place] for place in range(len(self._places))),
        )

    def _not_matched(self, part: Gap | NotNext | Absent, after: int) -> int:
        match part:
            case Gap(rows, without):
                return self._gap(after, without, others=rows == "others")
            case NotNext(step):
                return self.node(_Guard(self._test(step), after))
            case Absent(step):
                return self._absent((step,), after)

    def _in_order(self, parts: tuple[Part, ...], after: int) -> int:
        # Steps that must not come are all looked out for together, up to the end.
        absent = tuple(part.step for part in parts if isinstance(part, Absent))
        if absent:
            after = self._absent(absent, after)
        for part in reversed(parts):
            if not isinstance(part, Absent):
                after = self.add(part, after)
        return after

    def _absent(self, steps: tuple[PatternStep, ...], after: int) -> int:
        end = self.node(_Guard(ANY_ROW, after))
        return self._gap(end, steps, others=False)

    def _take(self, step: int, needs: int, after: int, forbids: tuple[int, ...] = ()) -> int:
        self._places.append(Place(step, needs, (*forbids, *self._until), self._hidden))
        return self.node(_Take(len(self._places) - 1, after))

    def _gap(self, after: int, without: tuple[PatternStep, ...], *, others: bool) -> int:
        loop = _Split(after, after)
        begin = self.node(loop)
        loop.worse = self._take(GAP, ANY_ROW, begin, tuple(map(self._test, without)))
        if others:
            # What begins after it is known when all is built: it may lead back here.
            self._others.append((len(self._places) - 1, after))
        return begin

    def _times(self, part: Times, after: int) -> int:
        before = self._until
        if part.until is not None:
            self._until = (*before, self._number(Test(NO_STEP, part.until)))
        begin = self._optional(part, after) if part.most is not None else self._loop(part, after)
        for number in reversed(range(part.least)):
            begin = self._iteration(part, number, begin, needed=True)
        self._until = before
        return begin

    def _optional(self, part: Times, after: int) -> int:
        assert part.most is not None
        begin = after
        for number in reversed(range(part.least, part.most)):
            entered = self._iteration(part, number, begin, needed=False)
            begin = self._choice(entered, after, greedy=part.greedy)
        return begin

    def _loop(self, part: Times, after: int) -> int:
        loop = _Split(after, after)
        begin = self.node(loop)
        # With least 0 the first iteration has nothing before it that it could be apart from.
        apart = part.apart is not None
        entered = self._iteration(part, 1 if apart else 0, begin, needed=False)
        loop.better, loop.worse = (entered, after) if part.greedy else (after, entered)
        if part.least > 0 or not apart:
            return begin
        first = self._iteration(part, 0, begin, needed=False)
        return self._choice(first, after, greedy=part.greedy)

    def _iteration(self, part: Times, number: int, after: int, *, needed: bool) -> int:
        if needed:
            begin = self.add(part.part, after)
        else:
            self._iterations += 1
            this = self._iterations
            inner = self.add(part.part, self.node(_Iteration(this, begins=False, next=after)))
            begin = self.node(_Iteration(this, begins=True, next=inner))
        return self.add(part.apart, begin) if number and part.apart is not None else begin

    def _choice(self, entered: int, left: int, *, greedy: bool) -> int:
        return self.node(_Split(entered, left) if greedy else _Split(left, entered))

    def _first_of(self, begins: list[int]) -> int:
        found = begins[-1]
        for begin in reversed(begins[:-1]):
            found = self.node(_Split(begin, found))
        return found

    def _test(self, step: PatternStep) -> int:
        return ANY_ROW if step.condition is None else self._number(Test(step.name, step.condition))

    def _number(self, test: Test) -> int:
        return self._tests.setdefault(test, len(self._tests))

    def _entries(self, begin: int) -> Iterator[Entry]:
        """Give the places to try from a node on, the better first, each once."""
        given: set[Entry] = set()
        for place, guards in self._reached(begin):
            entry = (place, tuple(sorted(guards)))
            if entry not in given:
                given.add(entry)
                yield entry
            if place == ACCEPT and not guards:
                return  # whatever comes after it is never preferred

    def _reached(self, begin: int) -> Iterator[tuple[int, frozenset[int]]]:
        nothing: frozenset[int] = frozenset()
        waiting = [(begin, nothing, nothing)]
        seen: set[tuple[int, frozenset[int], frozenset[int]]] = set()
        while waiting:
            found = waiting.pop()
            if found in seen:
                continue
            seen.add(found)
            number, guards, begun = found
            match self._nodes[number]:
                case _Take(place, _):
                    yield place, guards
                case _Accept():
                    yield ACCEPT, guards
                case _Split(better, worse):
                    waiting += [(worse, guards, begun), (better, guards, begun)]
                case _Guard(test, following):
                    waiting.append((following, guards | {test}, begun))
                case _Iteration(iteration, begins, following):
                    if begins:
                        waiting.append((following, guards, begun | {iteration}))
                    elif iteration not in begun:
                        waiting.append((following, guards, begun))
