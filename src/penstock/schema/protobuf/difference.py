"""What differs between two Protobuf schemas, in words, and whether readers can bear it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "package changed", "message added", "message removed", "message moved",
    "enum added", "enum removed", "symbol added", "symbol removed", "symbol renamed",
    "field added", "field removed", "field renamed", "required field added",
    "required field removed", "kind changed", "scalar changed", "named type changed",
    "numeric label changed", "text label changed", "oneof added", "oneof removed",
    "oneof field added", "oneof field removed", "fields moved to oneof",
    "field moved to existing oneof",
]  # fmt: skip

BREAKING: frozenset[Kind] = frozenset({
    "message removed", "required field added", "required field removed", "kind changed",
    "scalar changed", "named type changed", "numeric label changed", "oneof field removed",
    "fields moved to oneof", "field moved to existing oneof",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: its kind, the message or enum it is in, and a sentence about it."""

    kind: Kind
    place: str
    words: str

    @property
    def breaking(self) -> bool:
        """Whether data written with the first schema cannot be read with the second."""
        return self.kind in BREAKING


@dataclass(slots=True)
class Differences:
    """Gathers differences, each once."""

    found: list[Difference] = field(default_factory=list)

    def add(self, kind: Kind, place: str, words: str) -> None:
        """Take note of a difference."""
        new = Difference(kind, place, words)
        if new not in self.found:
            self.found.append(new)

    @property
    def breaking(self) -> bool:
        """Whether any of them breaks readers."""
        return any(item.breaking for item in self.found)
