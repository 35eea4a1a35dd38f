"""Which rows lie within a span that ends at given times, for all groups at once."""

from __future__ import annotations

import numpy as np

from penstock.kernel.firing import Members, Whole


def members_within(rows: tuple[Whole, Whole], ends: tuple[Whole, Whole], size: int) -> Members:
    """Give for each end the places of its group's rows with a time in (end - size, end].

    Rows and ends are pairs of group numbers and times; places go by time, and by arrival
    where times are equal.
    """
    group, at = rows
    times, rank = np.unique(at, return_inverse=True)
    breadth = len(times) + 1
    # Group and time as one number: the rank of a time, since times themselves are too long.
    code = group * breadth + rank
    order = np.argsort(code, kind="stable").astype(np.int64)
    sorted_code = code[order]
    last_group, last = ends
    upper = np.searchsorted(times, last, "right")
    lower = np.searchsorted(times, last - size, "right")
    stop = np.searchsorted(sorted_code, last_group * breadth + upper, "left")
    start = np.searchsorted(sorted_code, last_group * breadth + lower, "left")
    sizes = (stop - start).astype(np.int64)
    offsets = np.cumsum(sizes) - sizes
    steps = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(offsets, sizes)
    return Members(sizes, order[np.repeat(start, sizes) + steps])
