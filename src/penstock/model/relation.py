"""What flows: streams of rows with a schema, made from one another by frozen steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from penstock.schema.schema import Schema


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


def _walk(relation: Relation, seen: set[int]) -> Iterator[Relation]:
    if id(relation) in seen:
        return
    seen.add(id(relation))
    for item in relation.inputs:
        yield from _walk(item, seen)
    yield relation
