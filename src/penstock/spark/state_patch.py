"""What a step changed in the tables of a state, so that no more than that is written.

Operators leave most rows where they were: they change some in place, add some at the end, or take
some out and put them at the end. Other changes are written as the whole table. A patch is itself a
set of tables, named after what is to be done:

`full:T`    the whole table T
`change:T`  rows that stand at the places `at:T` from now on, and after them rows for the end
`cut:T`     rows for the end, after those at the places `at:T` were taken out
`gone:T`    nothing: T is no longer there
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.port import Frame, Places

Tables: TypeAlias = Mapping[str, Frame]

_AT = "at"
# Beyond this share of rows the whole table is as short.
_WORTH_IT = 8
# A table that has become so many times as long is as well written whole.
_MOST_GROWTH = 4
_STRIDE = 4096
# After so many rows that are gone one after the other it is another table.
_TRIED = 64


def state_patch(
    before: Tables, after: Tables, left: Mapping[str, Places] | None = None
) -> dict[str, Frame]:
    """Give what turns the tables before into those after; `patched` does it.

    Where a step says which rows `left` a table nothing is compared.
    """
    patch: dict[str, Frame] = {}
    for name, table in after.items():
        known = before.get(name)
        if known is table:
            continue
        if known is None or known.schema != table.schema:
            patch[f"full:{name}"] = table
        else:
            patch |= dict(_table_patch(name, known, table, (left or {}).get(name)))
    for name in before:
        if name not in after:
            patch[f"gone:{name}"] = pl.DataFrame()
    return patch


def patched(before: Tables, patch: Tables) -> dict[str, Frame]:
    """Give the tables that a patch leads to, in the order they are known by."""
    tables = dict(before)
    for label, frame in patch.items():
        kind, _, name = label.partition(":")
        if kind == "full":
            tables[name] = frame
        elif kind == "gone":
            del tables[name]
        elif kind != _AT:
            places = patch[f"{_AT}:{name}"].to_series().to_numpy()
            apply = _changed if kind == "change" else _cut
            tables[name] = apply(tables[name], places, frame)
    return tables


def _table_patch(
    name: str, before: Frame, after: Frame, left: Places | None
) -> Iterator[tuple[str, Frame]]:
    kind, places = _found(before, after) if left is None else ("cut", left)
    kept = before.height if kind == "change" else before.height - len(places)
    if kind == "full" or kept * _MOST_GROWTH < after.height:
        yield f"full:{name}", after
        return
    tail = after.slice(kept)
    if not len(places) and not tail.height:
        return
    yield f"{_AT}:{name}", pl.DataFrame({_AT: places})
    moved = after[places] if kind == "change" else after.clear()
    yield f"{kind}:{name}", pl.concat([moved, tail])


def _found(before: Frame, after: Frame) -> tuple[str, Places]:
    """Find what has changed, if it can be said by places."""
    most = max(before.height, after.height) // _WORTH_IT
    places = _changes(before, after, most)
    if places is not None:
        return "change", places
    places = _cuts(before, after, most)
    return ("full", np.zeros(0, np.int64)) if places is None else ("cut", places)


def _changes(before: Frame, after: Frame, most: int) -> Places | None:
    """Give the places whose rows differ; none where there are many, or rows are missing."""
    if after.height < before.height:
        return None
    common = after.head(before.height)
    differs = np.zeros(before.height, np.bool_)
    for name in before.columns:
        differs |= before[name].ne_missing(common[name]).to_numpy()
        if np.count_nonzero(differs) > most:
            return None
    return np.flatnonzero(differs)


def _cuts(before: Frame, after: Frame, most: int) -> Places | None:
    """Give the places whose rows are gone from the front of a table, if that explains it."""
    if not before.width or before.dtypes[0] != pl.Int64 or before[:, 0].null_count():
        return None
    places = _missing(before[:, 0].to_numpy(), after[:, 0].to_numpy(), most)
    if places is None:
        return None
    kept = before.height - len(places)
    return places if _without(before, places).equals(after.head(kept)) else None


def _missing(before: Places, after: Places, most: int) -> Places | None:
    """Walk along two columns side by side and give the places of the first that are skipped."""
    found: list[int] = []
    here = there = 0
    while here < len(before):
        if len(found) > min(most, _TRIED + here // _WORTH_IT):
            return None
        one = before[here : here + _STRIDE]
        other = after[there : there + len(one)]
        differs = one[: len(other)] != other
        run = int(differs.argmax()) if differs.any() else len(other)
        here, there = here + run, there + run
        if run < len(one):
            found.append(here)
            here += 1
    return np.array(found, np.int64)


def _changed(table: Frame, places: Places, rows: Frame) -> Frame:
    if len(places):
        front = rows.head(len(places))
        table = table.with_columns(
            _put(table[name], places, front[name])
            for name in table.columns
            if not table[name][places].equals(front[name], null_equal=True)
        )
    return _extended(table, rows.slice(len(places)))


def _put(column: pl.Series, places: Places, values: pl.Series) -> pl.Series:
    if column.dtype.is_numeric():
        return column.clone().scatter(places, values)
    # Other columns cannot be written in place: each row is fetched from where it is.
    where = np.arange(len(column))
    where[places] = len(column) + np.arange(len(places))
    return pl.concat([column, values], rechunk=True).gather(where)


def _cut(table: Frame, places: Places, rows: Frame) -> Frame:
    return _extended(_without(table, places), rows)


def _extended(table: Frame, rows: Frame) -> Frame:
    # In pieces: whoever applies the last of many patches copies them together, once.
    return pl.concat([table, rows], rechunk=False) if rows.height else table


def _without(table: Frame, places: Places) -> Frame:
    if not len(places):
        return table
    keep = np.ones(table.height, np.bool_)
    keep[places] = False
    return table.filter(pl.Series(keep))
