"""Aggregates that no measure of the model has: what they remember of the rows of a group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

Sums: TypeAlias = tuple[int, float, float, float, float, float]
Row: TypeAlias = dict[str, Any]

_MOST_BINS = 1000


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's correlation of two columns, of six sums."""

    def init(self) -> Sums:
        """Give the sums of no rows."""
        return (0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def add(self, sums: Sums, x: float | None, y: float | None) -> Sums:
        """Add a row; one without both values does not count."""
        return self.merge(sums, _sums_of(x, y))

    def retract(self, sums: Sums, x: float | None, y: float | None) -> Sums:
        """Take a row back."""
        count, *others = _sums_of(x, y)
        return self.merge(sums, (-count, *(-value for value in others)))  # type: ignore[arg-type]

    def merge(self, one: Sums, other: Sums) -> Sums:
        """Give the sums of both."""
        return tuple(a + b for a, b in zip(one, other, strict=True))  # type: ignore[return-value]

    def result(self, sums: Sums) -> float:
        """Give the correlation; of too few values it is not a number."""
        count, x, y, xx, yy, xy = sums
        product = count * xy - x * y
        square = (count * xx - x * x) * (count * yy - y * y)
        if square == 0 and product != 0:
            return math.copysign(math.inf, product)
        return product / math.sqrt(square) if square > 0 else math.nan


def _sums_of(x: float | None, y: float | None) -> Sums:
    if x is None or y is None:
        return (0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (1, x, y, x * x, y * y, x * y)


@dataclass(frozen=True, slots=True)
class Tally:
    """How often each value is there, of a thousand values at most."""

    def init(self) -> dict[str, int]:
        """Give the counts of no rows."""
        return {}

    def add(self, counts: dict[str, int], value: str | None) -> dict[str, int]:
        """Count a value."""
        return counts if value is None else self.merge(counts, {value: 1})

    def retract(self, counts: dict[str, int], value: str | None) -> dict[str, int]:
        """Take a value back."""
        if value is None or value not in counts:
            return counts
        left = {**counts, value: counts[value] - 1}
        return {name: count for name, count in left.items() if count > 0}

    def merge(self, one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        """Add up counts; values beyond the first thousand are left out, as in ksqlDB."""
        counts = dict(one)
        for value, count in other.items():
            if value in counts or len(counts) < _MOST_BINS:
                counts[value] = counts.get(value, 0) + count
        return counts

    def result(self, counts: dict[str, int]) -> dict[str, int]:
        """Give the counts."""
        return counts


@dataclass(frozen=True, slots=True)
class TopRows:
    """The rows with the greatest values in `sort_col`, greatest first; of equals the earlier."""

    most: int

    def init(self) -> list[Row]:
        """Give no rows."""
        return []

    def add(self, rows: list[Row], row: Row) -> list[Row]:
        """Put a row in its place; one without a value has none."""
        return rows if row["sort_col"] is None else self.merge(rows, [row])

    def merge(self, one: list[Row], other: list[Row]) -> list[Row]:
        """Give the greatest of both."""
        return sorted([*one, *other], key=_rank, reverse=True)[: self.most]

    def result(self, rows: list[Row]) -> list[Row]:
        """Give the rows."""
        return rows


def _rank(row: Row) -> Any:  # noqa: ANN401
    return row["sort_col"]
