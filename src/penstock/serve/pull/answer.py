"""What a query is answered: columns, rows, and the offsets that they reflect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.log.record import TopicPartition
from penstock.serve.record_rows import plain

Cells: TypeAlias = tuple[Any, ...]
_WHOLE_NUMBERS = ("HUGEINT", "UHUGEINT")
_WIDEST = 2**63


@dataclass(frozen=True, slots=True)
class PullAnswer:
    """Rows with the types of their columns, as of offsets: the next ones of what was read."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    table: pa.Table
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    truncated: bool = False
    """Whether there are more rows than were asked for."""
    tag: str | None = None
    """The same for the same question of the same rows; none where the answer is by chance."""

    @property
    def rows(self) -> list[Cells]:
        """The rows, as values of Python."""
        columns = [
            _values(column, kind)
            for column, kind in zip(self.table.columns, self.types, strict=True)
        ]
        return list(zip(*columns, strict=True)) if columns else []

    def document(self) -> dict[str, Any]:
        """Give all of it as JSON has it."""
        return {
            "columns": [
                {"name": name, "type": kind}
                for name, kind in zip(self.columns, self.types, strict=True)
            ],
            "rows": [[json_cell(cell) for cell in row] for row in self.rows],
            "offsets": {str(at): offset for at, offset in sorted(self.offsets.items())},
            "truncated": self.truncated,
        }


def json_cell(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    """Give a value as JSON has it: times and decimals as text, bytes that are none in base 64."""
    match value:
        case list() | tuple() if not isinstance(value, pa.MonthDayNano):
            return [json_cell(item) for item in value]
        case Mapping():
            return {str(name): json_cell(item) for name, item in value.items()}
        case _:
            return _single(value)


def _single(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    match value:
        case datetime() if value.tzinfo is not None:
            return value.isoformat().replace("+00:00", "Z")
        case pa.MonthDayNano():
            return f"{value.months} months {value.days} days {value.nanoseconds} nanoseconds"
        case timedelta() | Decimal():
            return str(value)
        case int() if not -_WIDEST <= value < 2 * _WIDEST:
            # Wider than any reader of JSON takes for a number.
            return str(value)
        case _:
            return plain(value)


def _values(column: pa.ChunkedArray, kind: str) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except (OverflowError, TypeError, ValueError):
        values = [_value(item) for item in column]
    if kind in _WHOLE_NUMBERS:
        # Arrow has no integers so wide, and gives decimals.
        return [None if value is None else int(value) for value in values]
    return values


def _value(item: Any) -> Any:  # noqa: ANN401  # a scalar of Arrow, and what it holds
    try:
        return item.as_py(maps_as_pydicts="lossy")
    except TypeError:
        # A map whose keys are lists: as pairs.
        return item.as_py()
    except (OverflowError, ValueError):
        # What no calendar holds stays a number.
        return getattr(item, "value", None)
