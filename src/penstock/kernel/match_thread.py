"""Finds a match whose conditions ask for rows matched before.

Each way to match that is still possible is a thread, the better first: the place it waits at,
what it remembers of its rows, and the way it came. Of two threads that wait at one place and
remember the same the better one is enough, since what follows is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.kernel.match_automaton import ACCEPT, GAP, Automaton, Entry
from penstock.kernel.match_condition import Conditions
from penstock.kernel.match_expression import Ask, Registers, Workbook
from penstock.kernel.match_register import Sheet
from penstock.kernel.match_walk import Labels

Way: TypeAlias = tuple[Any, int, int] | None
"""The rows taken: the way before, the last row and the place that took it."""
Thread: TypeAlias = tuple[int, tuple[int, ...], Registers, Way]
"""A place, the tests the next row must not pass, what is remembered, and the way so far."""
_Add: TypeAlias = tuple[int, Callable[[Sheet, Any, int], Any]]
"""The number of a register, and what one row more makes of it."""


@dataclass(frozen=True, slots=True)
class _Test:
    """A test of a row: its bit, what is asked beside it, and what the row counts for then."""

    bit: int
    ask: Ask | None
    adds: tuple[_Add, ...]

    def passes(self, bits: int, sheet: Sheet, at: int, registers: Registers) -> bool:
        if not bits & self.bit:
            return False
        if self.ask is None:
            return True
        return self.ask(sheet, at, _with(registers, self.adds, sheet, at)) is True


@dataclass(frozen=True, slots=True)
class _Move:
    """How a place takes a row: bits it needs and forbids, and what must be asked."""

    needs: int
    forbids: int
    denied: tuple[_Test, ...]
    test: _Test
    adds: tuple[_Add, ...]
    after: tuple[Entry, ...]
    gap: bool


class Threads:
    """Finds the preferred match of the rows from one on.

    `steps` are the names of all that rows can be tested for, steps of the pattern first.
    """

    def __init__(
        self, automaton: Automaton, conditions: Conditions, workbook: Workbook, steps: Sequence[str]
    ) -> None:
        asks = [
            None if item.dynamic is None else workbook.asked(item.dynamic, item.step)
            for item in conditions.all
        ]
        adds = [
            tuple(
                (number, register.add)
                for number, (asked, register) in enumerate(workbook.registers.items())
                if not asked.steps or step in asked.steps
            )
            for step in steps
        ]
        self._tests = [
            _Test(item.bit, ask, adds[steps.index(item.step)])
            for item, ask in zip(conditions.all, asks, strict=True)
        ]
        self._moves = [
            _Move(
                self._tests[place.needs].bit,
                sum({self._tests[test].bit for test in place.forbids if asks[test] is None}),
                tuple(self._tests[test] for test in place.forbids if asks[test] is not None),
                self._tests[place.needs],
                () if place.step == GAP else adds[place.step],
                after,
                place.step == GAP,
            )
            for place, after in zip(automaton.places, automaton.after, strict=True)
        ]
        self._empty: Registers = tuple(item.empty for item in workbook.registers.values())
        self._first: list[Thread] = [(*entry, self._empty, None) for entry in automaton.first]
        self._only = self._one_way()

    def _one_way(self) -> tuple[int, _Move] | None:
        """Give the first place if a row with its bits is always taken there, and by no other."""
        place, guards, _, _ = self._first[0]
        move = self._moves[place]
        asked = guards or move.denied or move.test.ask is not None
        ends = any(following == ACCEPT for following, _ in move.after)
        return None if len(self._first) > 1 or asked or ends else (place, move)

    def decide(
        self, bits: Sequence[int], sheet: Sheet, span: tuple[int, int], *, closed: bool
    ) -> Labels | None:
        """Give the preferred match of the rows in a span, or none while it may still change."""
        start, stop = span
        threads, best = self._begun(sheet, start), None
        for at in range(start if threads is self._first else start + 1, stop):
            threads, ended = self._advance(threads, bits[at], sheet, at)
            best = ended or best
            if not threads:
                return _labels(start, best)
        if not closed:
            return None
        waiting = (way for place, _, _, way in threads if place == ACCEPT)
        return _labels(start, next(waiting, best))

    def _begun(self, sheet: Sheet, start: int) -> list[Thread]:
        """Give the threads after the first row, where there is but one way to take it."""
        if self._only is None:
            return self._first
        place, move = self._only
        registers = _with(self._empty, move.adds, sheet, start)
        way = (None, start, place)
        return [(following, guards, registers, way) for following, guards in move.after]

    def _advance(
        self, threads: list[Thread], bits: int, sheet: Sheet, at: int
    ) -> tuple[list[Thread], Way]:
        """Give the threads after a row, and the best way that has ended, if one has."""
        following: list[Thread] = []
        seen: set[tuple[int, tuple[int, ...], Registers]] = set()
        refused: set[tuple[int, int]] = set()
        for place, guards, registers, way in threads:
            if guards and self._guarded(guards, bits, sheet, at, registers):
                continue
            if place == ACCEPT:
                return following, way
            move = self._moves[place]
            if not bits & move.needs or bits & move.forbids:
                continue
            taken = _taken(move, (sheet, at), registers, bits, refused)
            if taken is None:
                continue
            longer = way if move.gap else (way, at, place)
            for next_place, next_guards in move.after:
                if next_place == ACCEPT and not next_guards:
                    return following, longer
                key = (next_place, next_guards, taken)
                if key not in seen:
                    seen.add(key)
                    following.append((*key, longer))
        return following, None

    def _guarded(
        self, guards: tuple[int, ...], bits: int, sheet: Sheet, at: int, registers: Registers
    ) -> bool:
        return any(self._tests[test].passes(bits, sheet, at, registers) for test in guards)


def _taken(
    move: _Move,
    row: tuple[Sheet, int],
    registers: Registers,
    bits: int,
    refused: set[tuple[int, int]],
) -> Registers | None:
    """Give what is remembered when the row is taken; none where it cannot be.

    `refused` are tests, with what was remembered, that the row has not passed: what a step
    does not take is mostly what the gap before it is asked for next.
    """
    sheet, at = row
    for test in move.denied:
        if (id(test), id(registers)) not in refused and test.passes(bits, sheet, at, registers):
            return None
    known = _with(registers, move.adds, sheet, at)
    if move.test.ask is None or move.test.ask(sheet, at, known) is True:
        return known
    refused.add((id(move.test), id(registers)))
    return None


def _with(registers: Registers, adds: tuple[_Add, ...], sheet: Sheet, at: int) -> Registers:
    """Give what is remembered with a row more."""
    if not adds:
        return registers
    known = list(registers)
    for number, add in adds:
        known[number] = add(sheet, known[number], at)
    return tuple(known)


def _labels(start: int, way: Way) -> Labels:
    taken: list[tuple[int, int]] = []
    while way is not None:
        way, row, place = way
        taken.append((row - start, place))
    taken.reverse()
    return Labels(tuple(row for row, _ in taken), tuple(place for _, place in taken))
