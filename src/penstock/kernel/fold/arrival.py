"""Numbers of arrival, continued from part to part."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.accumulator import SEQUENCE
from penstock.kernel.port import Frame

_FULL = 2**62
_NUMBER = re.compile(rf"(_a\d+)?{SEQUENCE}")


def continued(parts: Sequence[Sequence[Frame]]) -> list[list[Frame]]:
    """Give the frames of each part with numbers higher than those of the parts before.

    A part whose numbers are higher already keeps them.
    """
    if sum(size_of(part) for part in parts) >= _FULL:
        # Parts merged into one another again and again use up numbers that no row has.
        parts = [_renumbered(part) for part in parts]
    moved: list[list[Frame]] = []
    size = 0
    for part in parts:
        moved.append(beyond(part, size))
        size = max(size, size_of(moved[-1]))
    return moved


def beyond(part: Sequence[Frame], size: int) -> list[Frame]:
    """Give the frames of a part with numbers not below `size`."""
    offset = size if _lowest(part) < size else 0
    return [_moved(frame, offset) for frame in part]


def size_of(part: Sequence[Frame]) -> int:
    """One more than the highest number."""
    found = [frame[name].max() for frame in part for name in _numbers(frame)]
    return 1 + max((number for number in found if isinstance(number, int)), default=-1)


def _lowest(part: Sequence[Frame]) -> int:
    found = [frame[name].min() for frame in part for name in _numbers(frame)]
    return min((number for number in found if isinstance(number, int)), default=_FULL)


def _numbers(frame: Frame) -> list[str]:
    """The columns of numbers; those of the user do not begin so, whatever they end with."""
    return [name for name in frame.columns if _NUMBER.fullmatch(name)]


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
