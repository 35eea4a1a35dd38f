"""Patterns matched the slow and obvious way: all sequences in the order preferred, one by one.

Nothing of the kernel is used. A condition is an expression and, beside it, a function of
Python that means the same, with None for null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from penstock.model.expr import Expr
from penstock.model.match import Skip
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

Row: TypeAlias = dict[str, Any]
Taken: TypeAlias = tuple[tuple[str, int, bool], ...]
"""The rows of a match: step, place, and whether it is hidden."""
Holds: TypeAlias = Callable[[Sequence[Row], int, Taken], bool | None]
"""Whether a condition holds for a row by its place, after rows were taken; it is one of them."""


@dataclass(frozen=True)
class Loop:
    """A repetition after some iterations."""

    times: Times
    done: int


@dataclass(frozen=True)
class Enter:
    """An iteration that is not needed."""

    part: Part


@dataclass(frozen=True)
class MustPass:
    """The end of an iteration that must have taken a row since a place."""

    place: int


@dataclass(frozen=True)
class Scope:
    """From here on rows are hidden, or end a repetition, or are not so any more."""

    hidden: int = 0
    until: Expr | None = None
    leave: bool = False


Item: TypeAlias = Part | Loop | Enter | MustPass | Scope


@dataclass(frozen=True)
class At:
    """Where the search is: a place, the rows taken, and the scopes around."""

    place: int
    taken: Taken = ()
    hidden: int = 0
    until: tuple[Expr, ...] = ()


class Oracle:
    """Finds matches in the rows of one key that stand in order."""

    def __init__(self, pattern: Pattern, skip: Skip, meanings: dict[Expr, Holds]) -> None:
        self._pattern = pattern
        self._skip = skip
        self._meanings = meanings
        self._rows: Sequence[Row] = ()

    def matches(self, rows: Sequence[Row]) -> list[Taken]:
        """Give all matches in the order of their first rows; `at` is a row's time."""
        found: list[Taken] = []
        start = 0
        while start < len(rows):
            match = self._preferred(rows, start)
            if match is None:
                start += 1
            else:
                found.append(match)
                start = self._resume(match)
        return found

    def _preferred(self, rows: Sequence[Row], start: int) -> Taken | None:
        within = self._pattern.within
        begin = rows[start]["at"]
        size = len(rows) if within is None else within.total_seconds() * 1000
        self._rows = rows if within is None else [row for row in rows if row["at"] < begin + size]
        ways = self._ways([self._pattern.body], At(start))
        return next((way.taken for way in ways), None)

    def _resume(self, match: Taken) -> int:
        first, last = match[0][1], match[-1][1]
        places = [place for step, place, _ in match if step == self._skip.step]
        match self._skip.to:
            case "past last row":
                return last + 1
            case "first":
                return max(first + 1, places[0] if places else 0)
            case "last":
                return max(first + 1, places[-1] if places else 0)
            case _:
                return first + 1

    def _ways(self, items: Sequence[Item], at: At) -> Iterator[At]:
        if not items:
            yield at
            return
        head, rest = items[0], items[1:]
        match head:
            case PatternStep():
                if at.place < len(self._rows) and self._begins(head, at):
                    taken = (*at.taken, (head.name, at.place, at.hidden > 0))
                    yield from self._ways(rest, replace(at, place=at.place + 1, taken=taken))
            case Enter(part):
                yield from self._ways([part, MustPass(at.place), *rest], at)
            case MustPass(place):
                if at.place > place:
                    yield from self._ways(rest, at)
            case Scope(hidden, until, leave):
                yield from self._ways(rest, _scoped(at, hidden, until, leave=leave))
            case Gap() | NotNext() | Absent():
                yield from self._not_taken(head, rest, at)
            case _:
                for option in _unfolded(head):
                    yield from self._ways([*option, *rest], at)

    def _not_taken(
        self, head: Gap | NotNext | Absent, rest: Sequence[Item], at: At
    ) -> Iterator[At]:
        there = at.place < len(self._rows)
        match head:
            case NotNext(step):
                if not (there and self._passes(step, at)):
                    yield from self._ways(rest, at)
            case Absent(step):
                later = (replace(at, place=place) for place in range(at.place, len(self._rows)))
                if not any(self._passes(step, place) for place in later):
                    yield from self._ways(rest, at)
            case Gap():
                yield from self._ways(rest, at)
                if there and at.taken and self._may_be_left_out(head, rest, at):
                    yield from self._ways([head, *rest], replace(at, place=at.place + 1))

    def _may_be_left_out(self, gap: Gap, rest: Sequence[Item], at: At) -> bool:
        denied = list(gap.without)
        if gap.rows == "others":
            denied += _firsts(rest, at.place)
        return not self._ended(at) and not any(self._passes(step, at) for step in denied)

    def _begins(self, step: PatternStep, at: At) -> bool:
        return not self._ended(at) and self._passes(step, at)

    def _ended(self, at: At) -> bool:
        taken = (*at.taken, ("", at.place, False))
        return any(self._holds(until, at.place, taken) for until in at.until)

    def _passes(self, step: PatternStep, at: At) -> bool:
        taken = (*at.taken, (step.name, at.place, False))
        return step.condition is None or self._holds(step.condition, at.place, taken)

    def _holds(self, condition: Expr, place: int, taken: Taken) -> bool:
        return self._meanings[condition](self._rows, place, taken) is True


def _scoped(at: At, hidden: int, until: Expr | None, *, leave: bool) -> At:
    if until is None:
        return replace(at, hidden=at.hidden + hidden)
    return replace(at, until=at.until[:-1] if leave else (*at.until, until))


def _options(times: Times, done: int) -> Iterator[list[Item]]:
    """What may come after so many iterations, the better first."""
    gap: list[Item] = [times.apart] if done and times.apart is not None else []
    following = Loop(times, done + 1)
    if done < times.least:
        yield [*gap, times.part, following]
        return
    more = times.most is None or done < times.most
    enter: list[list[Item]] = [[*gap, Enter(times.part), following]] if more else []
    leave: list[list[Item]] = [[]]
    yield from (enter + leave if times.greedy else leave + enter)


def _unfolded(item: InOrder | OneOf | Hidden | Times | Loop) -> Iterator[Sequence[Item]]:
    """What a part that is made of others stands for, the better first."""
    match item:
        case InOrder(parts):
            yield parts
        case OneOf(parts):
            yield from ([part] for part in parts)
        case Hidden(part):
            yield [Scope(hidden=1), part, Scope(hidden=-1)]
        case Times(until=None):
            yield [Loop(item, 0)]
        case Times(until=until):
            yield [Scope(until=until), Loop(item, 0), Scope(until=until, leave=True)]
        case Loop(times, done):
            yield from _options(times, done)


def _firsts(items: Sequence[Item], place: int) -> Iterator[PatternStep]:
    """The steps that a row at a place can begin what follows with."""
    if not items:
        return
    head, rest = items[0], items[1:]
    match head:
        case PatternStep():
            yield head
        case Enter(part):
            # An iteration that is not needed takes a row, so nothing after it can be first.
            yield from _firsts([part], place)
        case MustPass(since):
            yield from _firsts(rest, place) if place > since else ()
        case InOrder() | OneOf() | Hidden() | Times() | Loop():
            for option in _unfolded(head):
                yield from _firsts([*option, *rest], place)
        case _:
            yield from _firsts(rest, place)
