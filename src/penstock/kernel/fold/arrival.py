"""Numbers of arrival, continued from part to part."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.accumulator import SEQUENCE
from penstock.kernel.port import Frame

_FULL = 2**62


def continued(parts: Sequence[Sequence[Frame]]) -> list[list[Frame]]:
    """Give the frames of each part with numbers higher than those of the parts before."""
    sizes = [_size(part) for part in parts]
    if sum(sizes) >= _FULL:
        # Parts merged into one another again and again use up numbers that no row has.
        parts = [_renumbered(part) for part in parts]
        sizes = [_size(part) for part in parts]
    offsets = [sum(sizes[:index]) for index in range(len(sizes))]
    return [
        [_moved(frame, offset) for frame in part]
        for part, offset in zip(parts, offsets, strict=True)
    ]


def _size(part: Sequence[Frame]) -> int:
    """One more than the highest number."""
    found = [frame[name].max() for frame in part for name in _numbers(frame)]
    return 1 + max((number for number in found if isinstance(number, int)), default=-1)


def _numbers(frame: Frame) -> list[str]:
    return [name for name in frame.columns if name.endswith(SEQUENCE)]


def _moved(frame: Frame, offset: int) -> Frame:
    names = _numbers(frame) if offset else []
    return frame.with_columns(pl.col(name) + offset for name in names) if names else frame


def _renumbered(part: Sequence[Frame]) -> list[Frame]:
    """Give all numbers anew, without gaps, in the same order."""
    found = [frame[name].drop_nulls() for frame in part for name in _numbers(frame)]
    known = pl.concat([pl.Series(dtype=pl.Int64), *found]).unique().sort()
    return [
        frame.with_columns(
            pl.when(pl.col(name).is_not_null()).then(known.search_sorted(frame[name])).alias(name)
            for name in _numbers(frame)
        ).cast(dict.fromkeys(_numbers(frame), pl.Int64))
        for frame in part
    ]
