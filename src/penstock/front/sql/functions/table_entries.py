"""Functions that give rows."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

TABLES: Mapping[str, Entry] = {
    "EXPLODE": Entry("(ARRAY<T>) ARRAY<T>", "A row for each item.", "EXPLODE(ARRAY[1, 2])", "1, 2"),
    "CUBE_EXPLODE": Entry(
        "(ARRAY<T>) ARRAY<ARRAY<T>>",
        "A row for each choice of items: each one there or null.",
        "CUBE_EXPLODE(ARRAY[1])",
        "[null], [1]",
        "cube",
    ),
}
