"""A buffer of one key, row by row: where what leaves depends on what came before.

Counts alone are done for all keys at once (`count_buffer`); a delta, a punctuation or a time
is compared with rows that only the steps before decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.kernel.assign import millis
from penstock.model.window import Buffered, ByCount, ByDelta, ByPunctuation, ByTime


@dataclass(frozen=True, slots=True)
class Columns:
    """What the policies look at, by place: times, values and marks of punctuation."""

    at: Sequence[int | None]
    evict: Sequence[Any]
    fire: Sequence[Any]


@dataclass(slots=True)
class Memory:
    """What is known of one key: its rows by place, and what its policies count from."""

    held: list[int] = field(default_factory=list)
    seen: int = 0
    fired: int = 0
    reference: float | None = None
    deadline: int | None = None
    full: bool = False
    fresh: bool = False


class BufferMachine:
    """Takes the rows of one key at a time and notes which buffers are given out."""

    def __init__(self, window: Buffered, columns: Columns, memory: Memory) -> None:
        self._window = window
        self._columns = columns
        self._memory = memory
        self._newest: int | None = None
        self._straggler: int | None = None
        self.firings: list[tuple[int, int, list[int]]] = []
        """Number, place of the row that let it fire, and places of its rows."""
        for place in memory.held:
            self._heard(place)

    def take(self, place: int) -> None:
        """Take one row."""
        if self._window.kind == "tumbling":
            self._tumble(place)
        else:
            self._slide(place)

    def advance(self, now: int, place: int) -> None:
        """Let time go by without a row; a firing is noted at `place`."""
        memory, evict, fire = self._memory, self._window.evict, self._window.fire
        if self._window.kind == "tumbling":
            if isinstance(evict, ByTime) and self._expired(now, evict):
                self._flush(place)
            return
        if isinstance(fire, ByTime):
            self._fire_by_time(now, fire, place)
        if isinstance(evict, ByTime):
            self._drop_until(now - millis(evict.span))
        if not memory.held:
            memory.deadline = None

    def _tumble(self, place: int) -> None:
        memory, evict = self._memory, self._window.evict
        match evict:
            case ByPunctuation():
                if self._columns.evict[place]:
                    self._flush(place)
                    return
            case ByDelta(size=size):
                if memory.held and self._apart(place, memory.held[0], size):
                    self._flush(place)
            case ByTime():
                at = self._columns.at[place]
                if at is not None and self._expired(at, evict):
                    self._flush(place)
            case ByCount():
                pass
        memory.held.append(place)
        memory.seen += 1
        if isinstance(evict, ByCount) and len(memory.held) >= evict.rows:
            self._flush(place)

    def _slide(self, place: int) -> None:
        memory, window = self._memory, self._window
        if isinstance(window.evict, ByPunctuation) and self._columns.evict[place]:
            memory.held.clear()
            return
        if isinstance(window.fire, ByPunctuation) and self._columns.fire[place]:
            self._fire(place)
            return
        if isinstance(window.fire, ByTime):
            at = self._columns.at[place]
            if at is not None:
                self._fire_by_time(at, window.fire, place)
        match window.sequence:
            case "fire-evict-insert":
                self._fire_if_due(place)
                self._evict(place, coming=True)
                self._insert(place)
            case "insert-evict-fire":
                self._insert(place)
                self._evict(place, coming=False)
                self._fire_if_due(place)
            case "insert-fire-evict":
                self._insert(place)
                if self._fire_if_due(place):
                    self._evict(place, coming=False)

    def _heard(self, place: int) -> None:
        """Note the newest time, and the oldest of rows that came after newer ones."""
        at = self._columns.at[place]
        if at is None:
            return
        if self._newest is None or at >= self._newest:
            self._newest = at
        elif self._straggler is None or at < self._straggler:
            self._straggler = at

    def _insert(self, place: int) -> None:
        self._memory.held.append(place)
        self._memory.seen += 1
        self._memory.fresh = True

    def _fire_if_due(self, place: int) -> bool:
        if not self._due(place):
            return False
        return self._fire(place)

    def _due(self, place: int) -> bool:
        memory, fire, evict = self._memory, self._window.fire, self._window.evict
        match fire:
            case None:
                return True
            case ByCount(rows=rows):
                if not self._window.partial and isinstance(evict, ByCount):
                    return memory.seen >= evict.rows and (memory.seen - evict.rows) % rows == 0
                return memory.seen > 0 and memory.seen % rows == 0
            case ByDelta(size=size):
                return self._moved(place, size)
            case ByPunctuation() | ByTime():
                return False

    def _moved(self, place: int, size: float) -> bool:
        """Whether the value has moved on from that of the row which fired last."""
        memory, value = self._memory, self._columns.fire[place]
        if value is None:
            return False
        if memory.reference is None:
            memory.reference = value
            return False
        if not value - memory.reference > size:
            return False
        memory.reference = value
        return True

    def _fire(self, place: int) -> bool:
        memory, evict = self._memory, self._window.evict
        full = len(memory.held) >= evict.rows if isinstance(evict, ByCount) else memory.full
        whole = self._window.partial or full or isinstance(evict, ByPunctuation)
        if not memory.held or not whole:
            return False
        self.firings.append((memory.fired, place, list(memory.held)))
        memory.fired += 1
        memory.fresh = False
        return True

    def _fire_by_time(self, now: int, fire: ByTime, place: int) -> None:
        """Fire once for the periods that are over; without new rows there is nothing to say."""
        memory, period = self._memory, millis(fire.span)
        if memory.deadline is None:
            memory.deadline = now + period
        if now < memory.deadline:
            return
        if isinstance(self._window.evict, ByTime):
            self._drop_until(memory.deadline - millis(self._window.evict.span))
        if memory.fresh:
            self._fire(place)
        memory.deadline += period * ((now - memory.deadline) // period + 1)

    def _evict(self, place: int, *, coming: bool) -> None:
        """Let the oldest rows leave; a row that is yet to come needs room too."""
        memory = self._memory
        match self._window.evict:
            case ByCount(rows=rows):
                extra = len(memory.held) - rows + (1 if coming else 0)
                if extra > 0:
                    del memory.held[:extra]
            case ByDelta(size=size):
                gone = 0
                while gone < len(memory.held) and self._apart(place, memory.held[gone], size):
                    gone += 1
                memory.full |= gone > 0
                del memory.held[:gone]
            case ByTime(span=span):
                self._heard(place)
                if self._newest is not None:
                    self._drop_until(self._newest - millis(span))
            case ByPunctuation():
                pass

    def _drop_until(self, cutoff: int) -> None:
        held, at = self._memory.held, self._columns.at
        gone = 0
        while gone < len(held) and not _after(at[held[gone]], cutoff):
            gone += 1
        del held[:gone]
        # Rows in the order of their times leave from the front; only stragglers are sought.
        if self._straggler is not None and self._straggler <= cutoff:
            kept = [place for place in held if _after(at[place], cutoff)]
            gone += len(held) - len(kept)
            held[:] = kept
            times = (at[place] for place in kept)
            self._straggler = min((time for time in times if time is not None), default=None)
        self._memory.full |= gone > 0

    def _apart(self, place: int, oldest: int, size: float) -> bool:
        new, old = self._columns.evict[place], self._columns.evict[oldest]
        return new is not None and old is not None and new - old > size

    def _expired(self, now: int, evict: ByTime) -> bool:
        held = self._memory.held
        first = self._columns.at[held[0]] if held else None
        return first is not None and now - first >= millis(evict.span)

    def _flush(self, place: int) -> None:
        memory = self._memory
        if memory.held:
            self.firings.append((memory.fired, place, list(memory.held)))
            memory.fired += 1
            memory.held.clear()


def _after(time: int | None, cutoff: int) -> bool:
    return time is None or time > cutoff
