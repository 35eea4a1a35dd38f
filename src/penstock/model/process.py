"""A function of the user for each key, with state and timers of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from penstock.model.relation import Relation
from penstock.schema.schema import Schema
from penstock.schema.types import Type

Holds: TypeAlias = Literal["value", "list", "map"]
SIDE = "_side"
"""The column that tells which output a row of a process is for: empty for the main one."""


@dataclass(frozen=True, slots=True)
class StateField:
    """What a process remembers for each key under a name: a value, a list or a map.

    With `ttl` it is forgotten so long after it was last written, by event time. `was` is the
    name it had in states stored before.
    """

    name: str
    holds: Holds
    type: Type
    map_key: Type | None = None
    ttl: timedelta | None = None
    was: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Process(Relation):
    """Rows of one key, one after the other, through a function that remembers.

    `processor` is the user's: an object that is copied to where it runs. `gives` has the
    column `_side` first where there is more than one output.
    """

    source: Relation
    keys: tuple[str, ...]
    name: str
    processor: Any
    gives: Schema
    state: tuple[StateField, ...] = ()
    vectorised: bool = False
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)

    @property
    @override
    def schema(self) -> Schema:
        return self.gives

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    @override
    def retracts(self) -> bool:
        return False
