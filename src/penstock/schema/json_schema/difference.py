"""What differs between two JSON Schemas, in words, and whether readers can bear it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: the place in the schema, a sentence, and whether it breaks readers."""

    place: str
    words: str
    breaking: bool


def breaks(place: str, words: str) -> Difference:
    """Make a difference after which earlier data may not be valid."""
    return Difference(place, words, breaking=True)


def bears(place: str, words: str) -> Difference:
    """Make a difference that earlier data stays valid under."""
    return Difference(place, words, breaking=False)


def any_breaks(found: Iterable[Difference]) -> bool:
    """Say whether any of them breaks readers."""
    return any(item.breaking for item in found)


def inside(place: str, *parts: object) -> str:
    """Give a place inside of a place, as a JSON pointer writes it."""
    return "/".join([place, *(str(part).replace("~", "~0").replace("/", "~1") for part in parts)])


def limit_changes(
    place: str, word: str, before: float | None, after: float | None, *, least: bool
) -> list[Difference]:
    """Compare a limit: one that appears or gets stricter breaks."""
    where = inside(place, word)
    if before == after:
        return []
    if before is None:
        return [breaks(where, f"{word} {after} is new")]
    if after is None:
        return [bears(where, f"{word} {before} is gone")]
    stricter = after > before if least else after < before
    moved = f"{word} went from {before} to {after}"
    return [breaks(where, moved) if stricter else bears(where, moved)]


def others_changes(
    compare: Callable[[T | None, T | None, str], list[Difference]],
    permits: tuple[bool, bool],
    schemas: tuple[T | None, T | None],
    where: str,
    others: str,
) -> list[Difference]:
    """Compare what may stand beside what is named, before and after."""
    was, now = permits
    if was != now:
        if now:
            return [bears(where, f"{others} are allowed now")]
        return [breaks(where, f"{others} are not allowed any more")]
    earlier, later = schemas
    if earlier is None and later is not None:
        return [breaks(where, f"{others} must fit a schema now")]
    if later is None and earlier is not None:
        return [bears(where, f"{others} may be anything now")]
    return compare(earlier, later, where)


def number(value: Any) -> float | None:  # noqa: ANN401  # JSON
    """Give a number that JSON says; none for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
