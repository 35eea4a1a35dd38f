"""A function of the user for each key, with state and timers of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.migration import Migration
from penstock.model.processor import BatchProcessor, Domain, RowProcessor
from penstock.model.relation import OneInput
from penstock.schema.schema import Field, Schema
from penstock.schema.types import STRING, Kind, Type

Holds: TypeAlias = Literal["value", "list", "map"]
SIDE = "_side"
"""The column that tells which output a row of a process is for: empty for the main one."""
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)


@dataclass(frozen=True, slots=True)
class StateField:
    """What a process remembers for each key under a name: a value, a list or a map.

    With `ttl` it is forgotten so long after it was last written, by event time. `was` is the
    name it had in states stored before. `default` is what a value is that was never written.
    What was stored in an earlier `version` passes through the `migrations` to each later one.
    """

    name: str
    holds: Holds
    type: Type
    map_key: Type | None = None
    ttl: timedelta | None = None
    was: str | None = field(default=None, compare=False)
    default: Any = None
    python: object = field(default=None, compare=False)
    """The class whose objects the values are, where it is the user's own."""
    version: int = 1
    migrations: tuple[tuple[int, Migration], ...] = field(default=(), compare=False)
    """The steps to a version from the one before it, in their order."""

    def __post_init__(self) -> None:
        self._require_versions()
        if not self.name.isidentifier() or self.name.startswith("_"):
            raise ModelError(
                "STATE_FIELD",
                f'a state is named "{self.name}"',
                hint="Name it like a variable, without _ in front.",
            )
        if self.ttl is not None and self.ttl <= timedelta(0):
            raise ModelError(
                "STATE_FIELD",
                f'state "{self.name}" is to be kept for {self.ttl}',
                hint='Give a ttl above zero, as in ttl="1 hour", or none.',
            )
        if self.map_key is not None and self.map_key.kind in _NESTED:
            raise ModelError(
                "STATE_FIELD",
                f'map state "{self.name}" has keys of type {self.map_key}',
                hint="Let its keys be numbers, strings, times or other plain values.",
            )

    def steps_from(self, version: int) -> tuple[Migration, ...]:
        """Give what is to be done with values that were stored in a version."""
        return tuple(step for leads_to, step in self.migrations if leads_to > version)

    def _require_versions(self) -> None:
        if self.version < 1:
            raise ModelError(
                "STATE_FIELD",
                f'state "{self.name}" has version {self.version}',
                hint="Count versions from 1.",
            )
        for leads_to, _ in self.migrations:
            if not 1 < leads_to <= self.version:
                raise ModelError(
                    "STATE_FIELD",
                    f'state "{self.name}" of version {self.version} has a migration to version'
                    f" {leads_to}",
                    hint="Give the version it leads to, from 2 to that of the state.",
                )

    @override
    def __str__(self) -> str:
        keys = f"{self.map_key} to " if self.map_key is not None else ""
        return f"{self.holds} of {keys}{self.type}"


@dataclass(frozen=True, slots=True)
class Side:
    """An output beside the main one."""

    name: str
    schema: Schema

    def column(self, name: str) -> str:
        """Give the name a column of this output has among all results of its process."""
        return f"{self.name}:{name}"


@dataclass(frozen=True, slots=True)
class Punctuation:
    """A call for each key that remembers something, again and again.

    By event time it is called for each multiple of `every`; by the clock those that were
    missed are left out.
    """

    name: str
    every: timedelta
    domain: Domain = "event"

    def __post_init__(self) -> None:
        if self.every <= timedelta(0):
            raise ModelError(
                "PUNCTUATE_EVERY",
                f'"{self.name}" is to be called every {self.every}',
                hint='Give a time above zero, as in every="10s".',
            )


@dataclass(frozen=True, slots=True)
class Process(OneInput):
    """Rows of one key, one after the other, through a function that remembers.

    `processor` is the user's: an object that is copied to where it runs. It gives rows of
    `gives`, and others to `sides`; all of them are rows of one relation, whose column `_side`
    tells them apart where there are any. With `in_order` a row waits until the watermark has
    passed it, and rows and timers come in the order of their times; without, rows come as they
    arrive, and timers after the rows of a batch. Rows may be taken back only where the
    processor says that it can: `changelog`.
    """

    keys: tuple[str, ...]
    name: str
    processor: RowProcessor | BatchProcessor
    gives: Schema
    state: tuple[StateField, ...] = ()
    vectorised: bool = False
    sides: tuple[Side, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
    in_order: bool = False
    changelog: bool = False
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)
        beside = self.keys if self.vectorised else ()
        _once("state", [*beside, *(item.name for item in self.state)], self)
        _once("side output", [item.name for item in self.sides], self)
        if SIDE in self.gives.names:
            raise ModelError(
                "PROCESS_COLUMN",
                f'process "{self.name}" gives a column "{SIDE}" ({self.site})',
                hint="Give it another name: this one tells its outputs apart.",
            )
        if self.source.retracts and not self.changelog:
            raise ModelError(
                "PROCESS_RETRACTS",
                f'process "{self.name}" reads rows that may be taken back ({self.site})',
                hint="Let it heed ctx.weight and say changelog = True, or read a stream of rows.",
            )

    @property
    @override
    def schema(self) -> Schema:
        if not self.sides:
            return self.gives
        beside = (
            Field(side.column(item.name), item.type)
            for side in self.sides
            for item in side.schema.fields
        )
        main = (Field(item.name, item.type) for item in self.gives.fields)
        return Schema((Field(SIDE, STRING), *main, *beside))

    @property
    @override
    def retracts(self) -> bool:
        return False


def _once(kind: str, names: Iterable[str], process: Process) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen or not name:
            raise ModelError(
                "PROCESS_NAMES",
                f'process "{process.name}" has two {kind}s "{name}", or one without a name'
                f" ({process.site})",
                hint="Name each of them once.",
            )
        seen.add(name)
