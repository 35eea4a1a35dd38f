"""The timers of a process: a table for all keys, and a queue for a key whose timers are due.

The table has the columns `_at` (the time), the key, `_domain` and `_name`. A timer with a name is
known by it, one without by its domain and time. The time stands first, so that the patch of a
stored table is short when timers go: see `spark.state_patch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, TypeAlias

import polars as pl

from penstock.kernel.fold.grouping import join
from penstock.kernel.port import END_OF_TIME, Frame, Time
from penstock.kernel.process_context import DELETE, DOMAINS, WISH
from penstock.model.processor import Timer

AT = "_at"
DOMAIN = "_domain"
NAME = "_name"
TIMERS = "_timers"
"""The name of the table."""
_NUMBER = "_number"
_RANK = "_rank"
_OWN_DOMAIN = "_own_domain"
_OWN_TIME = "_own_time"
_WISHED = "_wished"

# A timer may set itself for the same time again to do a long work in pieces.
_MOST_AT_ONCE = 10_000

Due: TypeAlias = tuple[int, int, str]
"""A timer as it stands in line: the number of its domain, its time, its name or nothing."""


class TimerTable:
    """The timers of all keys, during one step; those of touched keys know the key's number."""

    def __init__(self, keys: Mapping[str, pl.DataType]) -> None:
        self._keys = tuple(keys)
        schema = {AT: pl.Int64(), **keys, DOMAIN: pl.String(), NAME: pl.String()}
        self.empty = pl.DataFrame(schema=schema)
        self._stored = self._touched = self._now = self.empty
        self._changed = False

    def begin(self, table: Frame | None, touched: Frame) -> None:
        """Take the table as it was stored."""
        self._stored = self.empty if table is None else table
        self._touched = touched
        self._changed = False
        self._now = _numbered(self._stored, touched, self._keys)

    def finish(self) -> Frame | None:
        """Give the table to be stored."""
        table = self._now.drop(_NUMBER) if self._changed else self._stored
        return table if table.height else None

    @property
    def wake_at(self) -> int | None:
        """The next clock time at which one is due."""
        found = self._now.filter(pl.col(DOMAIN) == "processing")[AT].min()
        assert found is None or isinstance(found, int)
        return found

    def standing(self, name: str) -> set[int]:
        """Give the numbers of the touched keys that have a timer of a name."""
        found = self._now.filter(pl.col(NAME) == name)[_NUMBER]
        return set(found.drop_nulls().to_list())

    def take_due(self, time: Time, *, rows: bool = True) -> dict[int, list[Due]]:
        """Take out what is due, by the number of the key and in order.

        Without `rows` those of event time are left for later.
        """
        mask = self._now.select(due(time, rows=rows)).to_series()
        if not mask.any():
            return {}
        found = self._now.filter(mask)
        self._keep(~mask)
        return _by_key(found)

    def take_wishes(self, wishes: list[Any], fired: Time | None = None) -> None:
        """Do what calls have asked for; timers set that have `fired` meanwhile are left out."""
        if not wishes:
            return
        last = _last_wishes(wishes)
        if self._now.height:
            known = _known_by(self._now).select(_IDENTITY)
            again = join(known, last.select(*_IDENTITY, _WISHED), _IDENTITY, "left")[_WISHED]
            if again.any():
                self._keep(again.is_null())
        new = last.filter(~pl.col(DOMAIN).str.starts_with(DELETE))
        if fired is not None:
            new = new.filter(~due(fired))
        if new.height:
            number = new[_NUMBER]
            keyed = new.with_columns(self._touched[key].gather(number) for key in self._keys)
            self._now = pl.concat([self._now, keyed.select(self._now.columns)])
            self._changed = True

    def _keep(self, mask: pl.Series) -> None:
        self._now = self._now.filter(mask)
        self._changed = True


def due(time: Time, *, rows: bool = True) -> pl.Expr:
    """Say which timers are due; without `rows` only those of the clock."""
    by_clock = (pl.col(DOMAIN) == "processing") & (pl.col(AT) <= time.clock)
    if not rows:
        return by_clock
    return by_clock | ((pl.col(DOMAIN) == "event") & (pl.col(AT) <= time.watermark))


_IDENTITY = (_NUMBER, NAME, _OWN_DOMAIN, _OWN_TIME)


def _numbered(held: Frame, touched: Frame, keys: Sequence[str]) -> Frame:
    if not keys:
        return held.with_columns(pl.lit(0, pl.Int64).alias(_NUMBER))
    numbers = touched.select(keys).with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER)
    )
    found = join(held.select(keys), numbers, keys, "left")[_NUMBER]
    return held.with_columns(found)


def _known_by(timers: Frame) -> Frame:
    """Add what makes two timers of a key the same one."""
    unnamed = pl.col(NAME).is_null()
    return timers.with_columns(
        pl.when(unnamed).then(pl.col(DOMAIN).str.strip_prefix(DELETE)).alias(_OWN_DOMAIN),
        pl.when(unnamed).then(pl.col(AT)).alias(_OWN_TIME),
    )


def _last_wishes(wishes: list[Any]) -> Frame:
    """Give the last wish about each timer, in their order."""
    frame = pl.DataFrame(
        {
            _NUMBER: pl.Series(wishes[0::WISH], dtype=pl.Int64),
            DOMAIN: pl.Series(wishes[1::WISH], dtype=pl.String),
            NAME: pl.Series(wishes[2::WISH], dtype=pl.String),
            AT: pl.Series(wishes[3::WISH], dtype=pl.Int64),
        }
    )
    told = _known_by(frame).with_columns(pl.lit(value=True).alias(_WISHED))
    return told.unique(_IDENTITY, keep="last", maintain_order=True)


def _by_key(timers: Frame) -> dict[int, list[Due]]:
    rank = (pl.col(DOMAIN) != DOMAINS[0]).cast(pl.Int64).alias(_RANK)
    line = timers.select(_NUMBER, rank, AT, pl.col(NAME).fill_null("")).sort(
        _NUMBER, _RANK, AT, NAME
    )
    runs = line[_NUMBER].rle().struct.unnest()
    entries = iter(
        zip(line[_RANK].to_list(), line[AT].to_list(), line[NAME].to_list(), strict=True)
    )
    return {
        number: [next(entries) for _ in range(length)]
        for length, number in runs.select("len", "value").iter_rows()
    }


class Queue:
    """The timers of one key that are due, and those that come due while they fire."""

    __slots__ = ("_heap", "_horizon", "_latest", "_live", "_stuck", "_time")

    def __init__(self, line: list[Due], time: Time) -> None:
        # What is in order is a heap.
        self._heap = line
        self._time = time
        self._live: dict[object, tuple[int, int]] | None = None
        self._horizon = END_OF_TIME
        if time.watermark >= END_OF_TIME:
            self._horizon = max((at for rank, at, _ in line if not rank), default=-END_OF_TIME)
        self._latest = (0, -END_OF_TIME)
        self._stuck = 0

    def until(self, time: int, *, clock: bool = True) -> Iterator[Timer]:
        """Take out those due by event time up to here, then those due by the clock."""
        while self._heap and (clock if self._heap[0][0] else self._heap[0][1] <= time):
            rank, at, name = heappop(self._heap)
            place = (rank, at)
            if self._live is None or self._live.pop(_identity(rank, at, name), None) == place:
                self._stuck = self._stuck + 1 if place <= self._latest else 0
                self._latest = max(self._latest, place)
                yield Timer(at, "processing" if rank else "event", name or None)

    @property
    def stuck(self) -> bool:
        """Whether timers set one another again and again and time does not go on."""
        return self._stuck > _MOST_AT_ONCE

    def take_wishes(self, wishes: Sequence[Any], *, of_row: bool = False) -> None:
        """Let timers that a call set fire too where they are due; forget those it took back."""
        if self._live is None:
            self._live = {_identity(*entry): entry[:2] for entry in self._heap}
        for place in range(0, len(wishes), WISH):
            _, domain, name, at = wishes[place : place + WISH]
            rank = int(not domain.endswith(DOMAINS[0]))
            identity = _identity(rank, at, name or "")
            self._live.pop(identity, None)
            if domain == DOMAINS[0] and of_row:
                self._horizon = max(self._horizon, at)
            if not domain.startswith(DELETE) and self._is_due(rank, at):
                self._live[identity] = (rank, at)
                heappush(self._heap, (rank, at, name or ""))

    def _is_due(self, rank: int, at: int) -> bool:
        if rank:
            return at <= self._time.clock
        return at <= min(self._time.watermark, self._horizon)


def _identity(rank: int, at: int, name: str) -> object:
    return name or (rank, at)
