"""What the user's functions do with one record: each step gives any number of records.

Between two steps keys and values are plain Python: they become bytes only where they are
written or remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from penstock.errors import RunError

Pair: TypeAlias = tuple[Any, Any]


class Step(Protocol):
    """Makes records of a record."""

    def __call__(self, key: Any, value: Any) -> Iterable[Pair]:  # noqa: ANN401
        """Give what becomes of a record."""


@dataclass(frozen=True)
class Map:
    """Another key and another value."""

    function: Callable[[Any, Any], Any]

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the one record that the function makes."""
        yield _pair(self.function(key, value))


@dataclass(frozen=True)
class FlatMap:
    """Any number of records."""

    function: Callable[[Any, Any], Iterable[Any]]

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the records that the function makes."""
        for made in self.function(key, value):
            yield _pair(made)


@dataclass(frozen=True)
class MapValues:
    """Another value under the same key."""

    function: Callable[[Any], Any]

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the record with its new value."""
        yield key, self.function(value)


@dataclass(frozen=True)
class FlatMapValues:
    """Any number of values under the same key."""

    function: Callable[[Any], Iterable[Any]]

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give a record for each value."""
        for made in self.function(value):
            yield key, made


@dataclass(frozen=True)
class SelectKey:
    """The same value under another key."""

    function: Callable[[Any, Any], Any]

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the record with its new key."""
        yield self.function(key, value), value


@dataclass(frozen=True)
class Keep:
    """The record, if it is wanted; or, where `unless`, if it is not."""

    function: Callable[[Any, Any], Any]
    unless: bool = False

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the record or nothing."""
        if bool(self.function(key, value)) != self.unless:
            yield key, value


@dataclass(frozen=True)
class Choose:
    """The record, if this predicate is the first of several that wants it."""

    predicates: tuple[Callable[[Any, Any], Any], ...]
    number: int

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Give the record or nothing."""
        wanted = (number for number, want in enumerate(self.predicates) if want(key, value))
        if next(wanted, None) == self.number:
            yield key, value


@dataclass(frozen=True)
class Look:
    """The record as it is, after somebody has seen it; nothing where that was the `last`."""

    function: Callable[[Any, Any], object]
    last: bool = False

    def __call__(self, key: Any, value: Any) -> Iterator[Pair]:  # noqa: ANN401
        """Show the record, and give it."""
        self.function(key, value)
        if not self.last:
            yield key, value


def through_steps(steps: Sequence[Step], pair: Pair) -> Iterable[Pair]:
    """Take a record through all steps."""
    pairs: Iterable[Pair] = (pair,)
    for step in steps:
        pairs = [made for one in pairs for made in step(*one)]
    return pairs


def _pair(made: Any) -> Pair:  # noqa: ANN401
    try:
        key, value = made
    except (TypeError, ValueError):
        raise RunError(
            "STREAMS_PAIR",
            f"a function gave {made!r:.100} where a key and a value are wanted",
            hint="Give a tuple of two: (key, value).",
        ) from None
    return key, value
