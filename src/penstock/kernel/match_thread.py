"""Finds a match whose conditions ask for rows matched before.

Each way to match that is still possible is a thread, the better first: the place it waits at,
what it remembers of its rows, and the way it came. Of two threads that wait at one place and
remember the same the better one is enough, since what follows is the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from penstock.kernel.match_automaton import ACCEPT, GAP, Automaton
from penstock.kernel.match_condition import Conditions
from penstock.kernel.match_expression import Registers, Workbook
from penstock.kernel.match_register import Sheet
from penstock.kernel.match_walk import NO_MATCH, Labels

Way: TypeAlias = tuple[Any, int] | None
"""The places taken: the way before, and the last one."""


class Row(NamedTuple):
    """A row by its bits and by its place in a sheet."""

    bits: int
    sheet: Sheet
    at: int


class Thread(NamedTuple):
    """A way to match that is still possible."""

    place: int
    guards: tuple[int, ...]
    registers: Registers
    way: Way


class Threads:
    """Finds the preferred match of the rows from one on.

    `steps` are the names of all that rows can be tested for, steps of the pattern first.
    """

    def __init__(
        self, automaton: Automaton, conditions: Conditions, workbook: Workbook, steps: Sequence[str]
    ) -> None:
        self._automaton = automaton
        self._bits = [item.bit for item in conditions.all]
        self._asks = [
            None if item.dynamic is None else workbook.asked(item.dynamic, item.step)
            for item in conditions.all
        ]
        self._owners = [steps.index(item.step) for item in conditions.all]
        self._empty: Registers = tuple(item.empty for item in workbook.registers.values())
        self._adds = [
            [
                register.add if not asked.steps or step in asked.steps else None
                for asked, register in workbook.registers.items()
            ]
            for step in steps
        ]

    def decide(
        self, bits: Sequence[int], sheet: Sheet, span: tuple[int, int], *, closed: bool
    ) -> Labels | None:
        """Give the preferred match of the rows in a span, or none while it may still change."""
        start, stop = span
        threads = [Thread(*entry, self._empty, None) for entry in self._automaton.first]
        best: Way = None
        for at in range(start, stop):
            threads, ended = self._advance(threads, Row(bits[at], sheet, at))
            best = ended or best
            if not threads:
                return _labels(best)
        if not closed:
            return None
        waiting = (thread.way for thread in threads if thread.place == ACCEPT)
        return _labels(next(waiting, best))

    def _advance(self, threads: list[Thread], row: Row) -> tuple[list[Thread], Way]:
        """Give the threads after a row, and the best way that has ended, if one has."""
        following: list[Thread] = []
        seen: set[tuple[int, tuple[int, ...], Registers]] = set()
        for thread in threads:
            if any(self._passes(test, row, thread.registers) for test in thread.guards):
                continue
            if thread.place == ACCEPT:
                return following, thread.way
            registers = self._taken(thread, row)
            if registers is None:
                continue
            way = (thread.way, thread.place)
            for place, guards in self._automaton.after[thread.place]:
                if place == ACCEPT and not guards:
                    return following, way
                if (place, guards, registers) not in seen:
                    seen.add((place, guards, registers))
                    following.append(Thread(place, guards, registers, way))
        return following, None

    def _taken(self, thread: Thread, row: Row) -> Registers | None:
        """Give what is remembered when the row is taken; none where it cannot be."""
        place = self._automaton.places[thread.place]
        if not row.bits & self._bits[place.needs]:
            return None
        if any(self._passes(test, row, thread.registers) for test in place.forbids):
            return None
        registers = self._with(thread.registers, place.step, row)
        ask = self._asks[place.needs]
        return registers if ask is None or ask(row.sheet, row.at, registers) is True else None

    def _passes(self, test: int, row: Row, registers: Registers) -> bool:
        if not row.bits & self._bits[test]:
            return False
        ask = self._asks[test]
        if ask is None:
            return True
        known = self._with(registers, self._owners[test], row)
        return ask(row.sheet, row.at, known) is True

    def _with(self, registers: Registers, step: int, row: Row) -> Registers:
        """Give what is remembered with a row more of a step; rows of a gap do not count."""
        if step == GAP or not registers:
            return registers
        return tuple(
            held if add is None else add(row.sheet, held, row.at)
            for add, held in zip(self._adds[step], registers, strict=True)
        )


def _labels(way: Way) -> Labels:
    if way is None:
        return NO_MATCH
    places: list[int] = []
    while way is not None:
        way, place = way
        places.append(place)
    return tuple(reversed(places))
