"""Arrow tables in groups: what the states of the dataflows of Bytewax are made with."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Table: TypeAlias = pa.Table
Numbers = npt.NDArray[Any]


def grouped(rows: Table, keys: list[str], merges: dict[str, str]) -> Table:
    """Fold the rows of each group; columns keep their names."""
    found = rows.group_by(keys).aggregate(list(merges.items()))
    names = [*keys, *(f"{column}_{merge}" for column, merge in merges.items())]
    return found.select(names).rename_columns([*keys, *merges])


def joined(left: Table, right: Table, keys: list[str], right_keys: list[str]) -> Table:
    """Match the rows of two tables."""
    return left.join(right, keys, right_keys, join_type="inner")


def among(rows: Table, others: Table, keys: list[str]) -> Table:
    """Give the rows whose keys are among those of others."""
    return rows.join(others.select(keys), keys, join_type="left semi")


def ranked(rows: Table, keys: list[str], order: list[Numbers]) -> tuple[Numbers, Numbers]:
    """Give the places of the rows by group and order, and for each its rank from 0."""
    groups = [rows[key].to_numpy() for key in keys]
    places = np.lexsort((*reversed(order), *reversed(groups)))
    opens = np.ones(len(places), dtype=bool)
    if len(places):
        opens[1:] = np.logical_or.reduce([g[places][1:] != g[places][:-1] for g in groups])
    starts = np.flatnonzero(opens)
    sizes = np.diff(np.append(starts, len(places)))
    return places, np.arange(len(places)) - np.repeat(starts, sizes)


def first_of_each(rows: Table, keys: list[str], order: list[Numbers]) -> Table:
    """Give the first row of each group."""
    places, ranks = ranked(rows, keys, order)
    return rows.take(pa.array(places[ranks == 0]))


def descending(rows: Table, column: str) -> Numbers:
    """Give what orders rows from the highest value of a column to the lowest."""
    found: Numbers = -rows[column].to_numpy()
    return found


def with_column(rows: Table, name: str, values: Any) -> Table:  # noqa: ANN401  # what Arrow takes
    """Give rows with one column more, or another in its place."""
    place = rows.schema.get_field_index(name)
    if place >= 0:
        return rows.set_column(place, name, values)
    return rows.append_column(name, values)


def floored(column: pa.ChunkedArray, size: int) -> pa.ChunkedArray:
    """Give the start of the window of each time."""
    return pc.multiply(pc.divide(column, size), size)


def together(tables: list[Table]) -> Table:
    """Put tables of the same columns behind one another."""
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)
