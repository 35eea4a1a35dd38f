"""The keys that have panes, numbered, so that all else is done with numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.bucket import Hashes, hash_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import Frame
from penstock.kernel.trigger.node import Mask

_NUMBER = "_number"
_ROW = "_row"
# Of more keys a join is faster.
_FEW = 20_000
# In a longer array most numbers would not be there.
_CLOSE = 8


def find_keys(wanted: Frame, known: Frame) -> Whole | None:
    """Give the row of each key among known ones, -1 where it is not there.

    Nothing where their hashes do not tell them apart. Less is to be started than for a join.
    """
    if any(kind.is_nested() for kind in known.dtypes):
        return None
    hashes, asked = _hashes(known), _hashes(wanted)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    places = np.minimum(np.searchsorted(hashes, asked), known.height - 1)
    hit = hashes[places] == asked
    found = order[places]
    one, other = wanted, known[pl.Series(found, dtype=pl.UInt32)]
    if not hit.all():
        rows = pl.Series(np.flatnonzero(hit), dtype=pl.UInt32)
        one, other = wanted[rows], other[rows]
    if not same_keys(one, other) or (hashes[1:] == hashes[:-1]).any():
        return None
    return np.where(hit, found, -1)


def _hashes(keys: Frame) -> Hashes:
    """Give hashes that hold for now, or ours where those might tell apart what is equal."""
    if any(kind.is_float() for kind in keys.dtypes):
        return hash_of(keys, keys.columns)
    return keys.hash_rows().to_numpy()


def find_numbers(wanted: pl.Series, known: pl.Series) -> Whole | None:
    """Give the same of keys that are whole numbers, close together and never null."""
    if wanted.dtype != pl.Int64 or wanted.null_count() or known.null_count():
        return None
    asked, held = wanted.to_numpy(), known.to_numpy()
    least, most = int(held.min()), int(held.max())
    if most - least > _CLOSE * (len(held) + len(asked)):
        return None
    table = np.full(most - least + 1, -1, dtype=np.int64)
    table[held - least] = np.arange(len(held))
    found = np.full(len(asked), -1, dtype=np.int64)
    inside = (asked >= least) & (asked <= most)
    found[inside] = table[asked[inside] - least]
    return found


def telling(wanted: Frame, known: Frame) -> list[str]:
    """Give the columns by which keys differ: none where all are one key."""
    held = (wanted, known) if known.height else (wanted,)
    return [name for name in wanted.columns if not one_value([frame[name] for frame in held])]


def one_value(columns: Sequence[pl.Series]) -> bool:
    """Whether all columns, which have rows, hold one text or whole number only."""
    first = columns[0]
    if not first.len() or not (first.dtype == pl.String or first.dtype.is_integer()):
        return False
    value = first[0]
    if value is None or any(column[0] != value or column[-1] != value for column in columns):
        return False
    return all(not column.null_count() and bool((column == value).all()) for column in columns)


def same_keys(one: Frame, other: Frame) -> bool:
    """Whether two frames of as many rows have the same keys, row by row."""
    return all(
        one[name].equals(other[name], null_equal=True) or one[name].eq_missing(other[name]).all()
        for name in one.columns
    )


class KeyBook:
    """Keys by number: the first is 0. Without key columns there is one key."""

    def __init__(self, names: Sequence[str], known: Frame | None) -> None:
        self._names = list(names)
        self._known = known

    def __len__(self) -> int:
        if not self._names:
            return 1
        return 0 if self._known is None else self._known.height

    @property
    def table(self) -> Frame | None:
        """The keys in the order of their numbers, to be stored."""
        return self._known

    def numbers(self, rows: Frame) -> Whole:
        """Give the number of each row's key; new keys get the next ones."""
        if not self._names:
            return np.zeros(rows.height, dtype=np.int64)
        wanted = rows[self._names]
        if self._known is None or not self._known.height:
            found: Whole = np.full(rows.height, -1, dtype=np.int64)
            self._known = wanted.clear()
        else:
            found = self._find(wanted, self._known)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            found = found.copy()
            found[unknown] = self._add(wanted if len(unknown) == len(found) else wanted[unknown])
        return found

    def rows(self, numbers: Whole) -> Frame:
        """Give the keys of these numbers."""
        if not self._names or self._known is None:
            return pl.DataFrame()
        return self._known[pl.Series(numbers, dtype=pl.UInt32)]

    def keep(self, used: Mask) -> Whole | None:
        """Forget keys and number the others again: give their new numbers, if any changed."""
        if not self._names or self._known is None or used.all():
            return None
        self._known = self._known.filter(pl.Series(used))
        return np.cumsum(used, dtype=np.int64) - 1

    def _add(self, wanted: Frame) -> Whole:
        assert self._known is not None
        names = telling(wanted, wanted.clear())
        new = wanted.unique(names, maintain_order=True, keep="first") if names else wanted[:1]
        first = self._known.height
        self._known = pl.concat([self._known, new]) if first else new
        if new.height == wanted.height:
            return np.arange(first, first + new.height, dtype=np.int64)
        if not names:
            return np.full(wanted.height, first, dtype=np.int64)
        return self._find(wanted[names], new[names]) + first

    def _find(self, wanted: Frame, known: Frame) -> Whole:
        names = telling(wanted, known)
        if not names:
            return np.zeros(wanted.height, dtype=np.int64)
        wanted, known = wanted[names], known[names]
        found = find_numbers(wanted[names[0]], known[names[0]]) if len(names) == 1 else None
        if found is None and known.height < _FEW and wanted.height < _FEW:
            found = find_keys(wanted, known)
        return _joined(wanted, known) if found is None else found


def _joined(wanted: Frame, known: Frame) -> Whole:
    """Give the row of each key among known ones, -1 where it is not there."""
    names = wanted.columns
    numbered = known.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER))
    if known.height > 2 * wanted.height:
        # The hash table is built of the right side: here the smaller one.
        rows = wanted.with_row_index(_ROW)
        pairs = join(numbered, rows, names, "inner", in_order=False)
        found = np.full(wanted.height, -1, dtype=np.int64)
        found[pairs[_ROW].to_numpy()] = pairs[_NUMBER].to_numpy()
        return found
    return join(wanted, numbered, names, "left")[_NUMBER].fill_null(-1).to_numpy()
