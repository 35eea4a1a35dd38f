"""What flows: streams of rows with a schema, made from one another by frozen steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, TypeVar

from typing_extensions import override

from penstock.schema.schema import Schema

Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Relation(ABC):
    """A step of a program; equal steps on equal inputs are equal values."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns it gives."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Relation, ...]:
        """The steps it reads."""

    @property
    def retracts(self) -> bool:
        """Whether it may take rows back (weight -1)."""
        return any(item.retracts for item in self.inputs)

    def walk(self) -> Iterator[Relation]:
        """Give this step and all before it, inputs first, each once."""
        seen: set[int] = set()
        yield from _walk(self, seen)


@dataclass(frozen=True, slots=True)
class OneInput(Relation):
    """A step that reads one other."""

    source: Relation

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True, slots=True)
class SameColumns(OneInput):
    """A step that gives the columns of the one it reads."""

    @property
    @override
    def schema(self) -> Schema:
        return self.source.schema


class _Step:
    """A step as itself, not as what it is equal to; it is held, so its id stays its own."""

    __slots__ = ("itself",)

    def __init__(self, itself: Any) -> None:  # noqa: ANN401  # any step
        self.itself = itself

    @override
    def __hash__(self) -> int:
        return id(self.itself)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Step) and self.itself is other.itself


def made_once(schema: Callable[[Step], Schema]) -> Callable[[Step], Schema]:
    """Make the columns of a step once: they are made of those before, and asked for often."""

    @lru_cache(maxsize=1024)
    def known(step: _Step) -> Schema:
        return schema(step.itself)

    return wraps(schema)(lambda step: known(_Step(step)))


def _walk(relation: Relation, seen: set[int]) -> Iterator[Relation]:
    if id(relation) in seen:
        return
    seen.add(id(relation))
    for item in relation.inputs:
        yield from _walk(item, seen)
    yield relation
