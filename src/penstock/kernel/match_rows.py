"""The rows of matches as a frame: one for each row that was taken, in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.kernel.match_automaton import Place
from penstock.kernel.match_find import Found
from penstock.kernel.port import Frame

MATCH = "_match"
"""Int64: the number of the match in this step."""
ROW = "_row"
"""Int64: the place of the row."""
STEP = "_step"
"""Int64: the number of the step that took it."""
HIDDEN = "_hidden"
"""Boolean: whether it is left out where all rows of a match are given."""
NUMBER = "_number"
"""Int64: the number of the match among those of its key."""


def places_of(found: Found, places: Sequence[Place]) -> Frame:
    """Give the rows of all matches in order, with the columns above."""
    labels = [labels for _, labels in found.matches]
    sizes = np.fromiter((len(item.rows) for item in labels), np.int64, len(labels))
    starts = np.fromiter((start for start, _ in found.matches), np.int64, len(labels))
    total = int(sizes.sum())
    rows = np.fromiter((row for item in labels for row in item.rows), np.int64, total)
    taken = np.fromiter((place for item in labels for place in item.places), np.int64, total)
    steps = np.array([place.step for place in places], dtype=np.int64)
    hidden = np.array([place.hidden for place in places], dtype=np.bool_)
    return pl.DataFrame(
        {
            MATCH: np.repeat(np.arange(len(labels), dtype=np.int64), sizes),
            ROW: np.repeat(starts, sizes) + rows,
            STEP: steps[taken],
            HIDDEN: hidden[taken],
        }
    )
