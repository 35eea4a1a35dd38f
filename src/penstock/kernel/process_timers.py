"""The timers of all keys of a process, as a table.

It has the columns `_at` (the time), the key, `_domain` and `_name`. A timer with a name is known
by it, one without by its domain and time. The time stands first, so that the patch of a stored
table is short when timers go: see `spark.state_patch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import Frame, Time
from penstock.kernel.process_context import DELETE, DOMAINS, WISH
from penstock.kernel.process_queue import Due

AT = "_at"
DOMAIN = "_domain"
NAME = "_name"
TIMERS = "_timers"
"""The name of the table."""
_NUMBER = "_number"
_DELETED = "_deleted"
_NAME_NUMBER = "_name_number"
_LARGEST = 2**62


class TimerTable:
    """The timers of all keys, during one step; keys that are touched have numbers."""

    def __init__(self, keys: Mapping[str, pl.DataType]) -> None:
        self._keys = tuple(keys)
        schema = {AT: pl.Int64(), **keys, DOMAIN: pl.String(), NAME: pl.String()}
        self.empty = pl.DataFrame(schema=schema)
        self._now = self._touched = self.empty
        self._numbers: pl.Series | None = None
        """The number of each timer's key, once somebody has asked for it."""

    def begin(self, table: Frame | None, touched: Frame) -> None:
        """Take the table as it was stored."""
        self._now = self.empty if table is None else table
        self._touched = touched
        self._numbers = None

    def finish(self) -> Frame | None:
        """Give the table to be stored."""
        return self._now if self._now.height else None

    @property
    def wake_at(self) -> int | None:
        """The next clock time at which one is due."""
        found = self._now.filter(pl.col(DOMAIN) == "processing")[AT].min()
        assert found is None or isinstance(found, int)
        return found

    def standing(self, name: str) -> set[int]:
        """Give the numbers of the touched keys that have a timer of a name."""
        found = self._numbered(self._now.filter(pl.col(NAME) == name))
        return set(found.drop_nulls().to_list())

    def take_due(self, time: Time, *, rows: bool = True) -> dict[int, list[Due]]:
        """Take out what is due, by the number of the key, the last first.

        Without `rows` those of event time are left for later.
        """
        mask = self._now.select(due(time, rows=rows)).to_series()
        if not mask.any():
            return {}
        found = self._now.filter(mask)
        self._keep(~mask)
        return _by_key(found.with_columns(self._numbered(found)))

    def take_wishes(self, wishes: list[Any], fired: Time | None = None) -> None:
        """Do what calls have asked for; timers set that have `fired` meanwhile are left out."""
        if not wishes:
            return
        if self._numbers is None:
            self._numbers = self._numbered(self._now)
        asked = _frame_of(wishes)
        places = np.flatnonzero(self._numbers.is_not_null().to_numpy())
        rows = self._now[pl.Series(places)]
        held = rows.select(self._numbers.gather(places), DOMAIN, NAME, AT)
        # Where a timer is both held and asked for again, what was asked last counts.
        last = _last_of_each(pl.concat([held, asked.select(held.columns)]))
        is_held = last < held.height
        gone = np.delete(places, last[is_held])
        if len(gone):
            keep = np.ones(self._now.height, np.bool_)
            keep[gone] = False
            self._keep(pl.Series(keep))
        new = asked[pl.Series(last[~is_held] - held.height)].filter(~pl.col(_DELETED))
        if fired is not None:
            new = new.filter(~due(fired))
        if new.height:
            self._add(new)

    def _add(self, new: Frame) -> None:
        assert self._numbers is not None
        number = new[_NUMBER]
        keyed = new.with_columns(self._touched[key].gather(number) for key in self._keys)
        self._now = pl.concat([self._now, keyed.select(self._now.columns)])
        self._numbers = pl.concat([self._numbers, number])

    def _keep(self, mask: pl.Series) -> None:
        self._now = self._now.filter(mask)
        if self._numbers is not None:
            self._numbers = self._numbers.filter(mask)

    def _numbered(self, timers: Frame) -> pl.Series:
        keys = list(self._keys)
        if not keys:
            return pl.repeat(0, timers.height, dtype=pl.Int64, eager=True).alias(_NUMBER)
        numbers = self._touched.select(keys).with_columns(
            pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER)
        )
        return join(timers.select(keys), numbers, keys, "left")[_NUMBER]


def due(time: Time, *, rows: bool = True) -> pl.Expr:
    """Say which timers are due; without `rows` only those of the clock."""
    by_clock = (pl.col(DOMAIN) == "processing") & (pl.col(AT) <= time.clock)
    if not rows:
        return by_clock
    return by_clock | ((pl.col(DOMAIN) == "event") & (pl.col(AT) <= time.watermark))


def _frame_of(wishes: list[Any]) -> Frame:
    domains = pl.Series(DOMAIN, wishes[1::WISH], pl.String)
    frame = pl.DataFrame(
        [
            pl.Series(_NUMBER, wishes[0::WISH], pl.Int64),
            domains.str.strip_prefix(DELETE),
            pl.Series(NAME, wishes[2::WISH], pl.String),
            pl.Series(AT, wishes[3::WISH], pl.Int64),
        ]
    )
    return frame.with_columns(domains.str.starts_with(DELETE).alias(_DELETED))


def _last_of_each(timers: Frame) -> Whole:
    """Give the last place of each timer, in order."""
    number, identity = _whole(timers[_NUMBER]), _identity(timers)
    ids = number * (identity.max(initial=0) + 1) + identity
    backwards = np.unique(ids[::-1], return_index=True)[1]
    return np.sort(len(ids) - 1 - backwards)


def _identity(timers: Frame) -> Whole:
    """Give a number that two timers of one key share if and only if they are the same."""
    at = _whole(timers[AT].fill_null(0))
    least, most = int(at.min(initial=0)), int(at.max(initial=0))
    keys = int(_whole(timers[_NUMBER]).max(initial=0)) + 1
    if (most - least + timers.height) * 4 * keys >= _LARGEST:
        # Times that lie too far apart are numbered.
        at, least = np.unique(at, return_inverse=True)[1], 0
    by_clock = _whole((timers[DOMAIN] != DOMAINS[0]).cast(pl.Int64))
    unnamed: Whole = 2 * (at - least) + by_clock
    if timers[NAME].null_count() == timers.height:
        return unnamed
    known = timers.select(pl.col(NAME).unique()).with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias(_NAME_NUMBER)
    )
    names = _whole(join(timers.select(NAME), known, [NAME], "left")[_NAME_NUMBER])
    is_unnamed = timers[NAME].is_null().to_numpy()
    return np.where(is_unnamed, unnamed, names + (unnamed.max(initial=0) + 1))


def _whole(values: pl.Series) -> Whole:
    found: Whole = values.to_numpy()
    return found


def _by_key(timers: Frame) -> dict[int, list[Due]]:
    rank = (pl.col(DOMAIN) != DOMAINS[0]).cast(pl.Int64).alias(DOMAIN)
    line = timers.select(_NUMBER, rank, AT, pl.col(NAME).fill_null(""))
    if timers[NAME].null_count() < timers.height:
        line = line.sort(_NUMBER, DOMAIN, AT, NAME)
    else:
        line = line[pl.Series(np.lexsort([_whole(line[c]) for c in (AT, DOMAIN, _NUMBER)]))]
    number = _whole(line[_NUMBER])
    entries = line.select(DOMAIN, AT, NAME).rows()
    starts = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
    numbers = number[starts].tolist()
    return {
        key: entries[start:end][::-1]
        for key, (start, end) in zip(numbers, pairwise([*starts, len(entries)]), strict=True)
    }
