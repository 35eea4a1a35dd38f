"""Conditions on partition, offset and time that the read itself keeps, so Spark need not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from penstock.log.record import OFFSET_COLUMN, PARTITION_COLUMN, TIMESTAMP_COLUMN

_LEAST = -(2**63)
_MOST = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """Whole numbers from `first` to `last`, both included."""

    first: int = _LEAST
    last: int = _MOST

    def both(self, other: Span) -> Span:
        """The numbers that are in both spans."""
        return Span(max(self.first, other.first), min(self.last, other.last))

    @property
    def is_whole(self) -> bool:
        """Whether no number is left out."""
        return self.first == _LEAST and self.last == _MOST


ALL = Span()


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a topic that a read is about."""

    offsets: Span = ALL
    times: Span = ALL
    partitions: frozenset[int] | None = None

    def includes(self, partition: int) -> bool:
        """Whether the partition has anything to read."""
        return self.partitions is None or partition in self.partitions


def narrow(scope: Scope, filters: Sequence[Filter]) -> tuple[Scope, list[Filter]]:
    """Take what the read can keep exactly; give the narrower scope and the filters left over."""
    left: list[Filter] = []
    for item in filters:
        narrowed = _narrowed(scope, item)
        if narrowed is None:
            left.append(item)
        else:
            scope = narrowed
    return scope, left


def _narrowed(scope: Scope, item: Filter) -> Scope | None:
    column = getattr(item, "attribute", None)
    if isinstance(item, IsNotNull) and column in _NEVER_NULL:
        return scope
    if column == (PARTITION_COLUMN,):
        return _in_partitions(scope, item)
    if column == (OFFSET_COLUMN,):
        span = _span(item, _whole_number)
        return None if span is None else replace(scope, offsets=scope.offsets.both(span))
    if column == (TIMESTAMP_COLUMN,):
        span = _span(item, _microseconds)
        if span is None:
            return None
        return replace(scope, times=scope.times.both(_to_milliseconds(span)))
    return None


def _in_partitions(scope: Scope, item: Filter) -> Scope | None:
    if isinstance(item, EqualTo | EqualNullSafe):
        chosen = {item.value}
    elif isinstance(item, In):
        chosen = set(item.value)
    else:
        return None
    if not all(isinstance(value, int) for value in chosen):
        return None
    before = chosen if scope.partitions is None else scope.partitions
    return replace(scope, partitions=frozenset(chosen & before))


def _span(item: Filter, read: Callable[[object], int | None]) -> Span | None:
    value = read(getattr(item, "value", None))
    kind = type(item)
    if value is None or kind not in _SPANS:
        return None
    return _SPANS[kind](value)


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _microseconds(value: object) -> int | None:
    if not isinstance(value, datetime):
        return None
    since = (value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _to_milliseconds(span: Span) -> Span:
    """Records have whole milliseconds: only those within the microseconds given."""
    first = span.first if span.first == _LEAST else -(-span.first // 1000)
    last = span.last if span.last == _MOST else span.last // 1000
    return Span(first, last)


_SPANS: dict[type[Filter], Callable[[int], Span]] = {
    EqualTo: lambda value: Span(value, value),
    EqualNullSafe: lambda value: Span(value, value),
    GreaterThan: lambda value: Span(first=value + 1),
    GreaterThanOrEqual: lambda value: Span(first=value),
    LessThan: lambda value: Span(last=value - 1),
    LessThanOrEqual: lambda value: Span(last=value),
}
_NEVER_NULL = {(PARTITION_COLUMN,), (OFFSET_COLUMN,), (TIMESTAMP_COLUMN,)}
