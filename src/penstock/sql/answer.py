"""What a session gives back for a statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from penstock.log.record import TopicPartition

Cells: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Words: what was done, and what is worth knowing about it."""

    words: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows that are all there; `offsets` are the next ones of what they reflect."""

    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Followed:
    """Rows as they come, until the iterator ends or nobody asks any more.

    None says that there is nothing for the moment. Where there are `keys`, places of columns, a
    row takes the place of the one before it with the same. `offsets` are, at any time, the next
    ones of what the rows so far reflect.
    """

    columns: tuple[str, ...]
    rows: Iterator[Cells | None]
    keys: tuple[int, ...] = ()
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)


Answer: TypeAlias = Told | Listed | Followed
