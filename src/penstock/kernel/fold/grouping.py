"""Group and join frames by columns in which nulls are equal, and so are NaNs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.port import Frame

Numbers: TypeAlias = npt.NDArray[np.int64]

_PLACE = "_first_place"
_KEY = "_one_key"
_SAME = "_same"
# Below this many rows the streaming engine's start costs more than its speed gains.
_STREAM_FROM = 20_000
# Of fewer rows groups are found as fast; in a longer array most numbers would not be there.
_COUNT_FROM = 1_000
_COUNT_MOST = 4
_LARGEST = 2**62


def group(
    frame: Frame, by: Sequence[str], aggregates: Iterable[pl.Expr], *, in_order: bool = False
) -> Frame:
    """Aggregate each group; groups stand in the order of their first row.

    `in_order` says that an aggregate depends on the order of rows, which only the slower
    engine keeps.
    """
    if in_order or frame.height < _STREAM_FROM:
        return frame.group_by(by, maintain_order=True).agg(*aggregates)
    # Sorting groups by an integer is several times cheaper than `maintain_order`.
    placed = frame.with_row_index(_PLACE)
    return _streamed(placed, by, [*aggregates, pl.col(_PLACE).min()]).sort(_PLACE).drop(_PLACE)


def group_anyhow(frame: Frame, by: Sequence[str], aggregates: Sequence[pl.Expr]) -> Frame:
    """Aggregate each group; the groups stand in any order, which is fastest."""
    if frame.height < _STREAM_FROM:
        return frame.group_by(by, maintain_order=True).agg(*aggregates)
    return _streamed(frame, by, aggregates)


def count_numbers(frame: Frame, by: Sequence[str], weight: str | None, name: str) -> Frame | None:
    """Count groups of whole numbers, or add up a weight; none where one number cannot hold them.

    Small numbers are counted in an array several times as fast as groups are found, others in
    ascending order. Weights are added up exactly as long as no sum is beyond 2**53.
    """
    if frame.height < _COUNT_FROM or not all(_whole(frame[column]) for column in by):
        return None
    codes = _codes(frame, by)
    if codes is None:
        return None
    weights = None if weight is None else frame[weight].to_numpy()
    counted = _in_array if codes.size <= _COUNT_MOST * frame.height else _in_order
    found = counted(codes.code, weights)
    return None if found is None else codes.frame(*found, name)


def count_in_order(frame: Frame, by: Sequence[str], name: str) -> Frame | None:
    """Count groups of small whole numbers, which stand in the order of their first row."""
    if frame.height < _COUNT_FROM or not all(_whole(frame[column]) for column in by):
        return None
    codes = _codes(frame, by)
    if codes is None or codes.size > _COUNT_MOST * frame.height:
        return None
    there, counts = _in_array(codes.code, None)
    first = np.empty(codes.size, np.int64)
    # Of several rows the first one is written last, and stays.
    first[codes.code[::-1]] = np.arange(frame.height - 1, -1, -1)
    order = np.argsort(first[there])
    return codes.frame(there[order], counts[order], name)


@dataclass(frozen=True, slots=True)
class _Codes:
    """Several columns as one number below `size`: of each its name, type, least value and span."""

    code: Numbers
    size: int
    spans: tuple[tuple[str, pl.DataType, int, int], ...]

    def frame(self, codes: Numbers, counts: Numbers, name: str) -> Frame:
        """Give what codes stand for, and how many there are of each."""
        columns = [pl.Series(name, counts)]
        for place, (column, kind, least, span) in reversed(tuple(enumerate(self.spans))):
            codes, within = (codes // span, codes % span) if place else (codes, codes)
            columns.insert(0, as_was(pl.Series(column, within + least), kind))
        return pl.DataFrame(columns)


def _codes(frame: Frame, by: Sequence[str]) -> _Codes | None:
    """Give whole numbers of several columns as one, if it can hold them."""
    code, size = np.zeros(1, np.int64), 1
    spans = []
    for column in by:
        values = as_numbers(frame[column])
        least = int(values.min())
        span = int(values.max()) - least + 1
        spans.append((column, frame.schema[column], least, span))
        size *= span
        if size >= _LARGEST:
            return None
        if span > 1 or len(spans) == 1:
            code = code * span + (values - least)
    return _Codes(code, size, tuple(spans))


def _in_array(code: Numbers, weights: Numbers | None) -> tuple[Numbers, Numbers]:
    """Give the numbers that are there, and how often each, or what its weights add up to."""
    counts = np.bincount(code)
    there = np.flatnonzero(counts)
    sums = counts if weights is None else np.bincount(code, weights=weights)
    return there, sums[there].astype(np.int64)


def _in_order(code: Numbers, weights: Numbers | None) -> tuple[Numbers, Numbers] | None:
    """Give the same of numbers that are large; none where weights would make too many of them."""
    if weights is not None:
        if int(weights.min()) < 1 or int(weights.sum()) > 2 * len(code):
            return None
        # A number that comes twice is sorted twice: less than to sort the weights beside.
        code = np.repeat(code, weights)
    ordered = pl.Series(code).sort().to_numpy()
    if not len(ordered):
        return ordered, ordered
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[begins], np.diff(np.append(begins, len(ordered)))


def join(
    left: Frame,
    right: Frame,
    by: Sequence[str],
    how: Literal["inner", "left", "semi", "anti"],
    *,
    in_order: bool = True,
) -> Frame:
    """Join by columns; rows stay in the order of the left side, where they are to."""
    order: Literal["left", "none"] = "left" if in_order else "none"
    if len(by) == 1 and left.schema[by[0]].is_float():
        # polars merges two sorted columns of floats, and then finds no NaN (2.1): not if it
        # joins by two columns.
        same = pl.lit(0, pl.Int8).alias(_SAME)
        left, right, by = left.with_columns(same), right.with_columns(same), [*by, _SAME]
    joined = left.join(right, on=list(by), how=how, nulls_equal=True, maintain_order=order)
    return joined.drop(_SAME) if _SAME in by else joined


def _streamed(frame: Frame, by: Sequence[str], aggregates: Sequence[pl.Expr]) -> Frame:
    key = _one_key(frame, by)
    if key is None:
        return frame.lazy().group_by(by).agg(*aggregates).collect(engine="streaming")
    keyed = frame.lazy().with_columns(key.packed.alias(_KEY)).group_by(_KEY).agg(*aggregates)
    grouped = keyed.collect(engine="streaming")
    return grouped.select(*key.unpacked, pl.exclude(_KEY))


@dataclass(frozen=True, slots=True)
class _OneKey:
    """Several columns as one number, and back."""

    packed: pl.Expr
    unpacked: tuple[pl.Expr, ...]


def _one_key(frame: Frame, by: Sequence[str]) -> _OneKey | None:
    """Give one number for several whole ones, if it can hold them: twice as fast to group by."""
    if len(by) == 1 or not all(_whole(frame[name]) for name in by):
        return None
    packed, size = pl.lit(0, pl.Int64), 1
    unpacked = []
    for name in by:
        values = frame[name].to_physical()
        least, most = values.min(), values.max()
        assert isinstance(least, int)
        assert isinstance(most, int)
        span = most - least + 1
        if size * span >= 2**63:
            return None
        packed = packed + (pl.col(name).to_physical().cast(pl.Int64) - least) * size
        back = pl.col(_KEY) // size % span + least
        unpacked.append(back.cast(values.dtype).cast(frame[name].dtype).alias(name))
        size *= span
    return _OneKey(packed, tuple(unpacked))


def is_whole(kind: pl.DataType) -> bool:
    """Whether values of a type are whole numbers of at most 64 bits."""
    return kind.is_signed_integer() or kind in (pl.Datetime, pl.Date)


def as_numbers(values: pl.Series) -> Numbers:
    """Give whole numbers, of which none is null."""
    # A cast that changes nothing costs as much as to sort some hundred numbers.
    return (values if values.dtype == pl.Int64 else values.to_physical().cast(pl.Int64)).to_numpy()


def as_was(numbers: pl.Series, kind: pl.DataType) -> pl.Series:
    """Give whole numbers the type they had."""
    if kind == pl.Int64:
        return numbers
    return (numbers.cast(pl.Int32) if kind == pl.Date else numbers).cast(kind)


def _whole(values: pl.Series) -> bool:
    return is_whole(values.dtype) and not values.null_count()
