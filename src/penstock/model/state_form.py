"""What the state of an operator looks like: the form it is stored in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.model.process import StateField
from penstock.schema.types import Type

Columns: TypeAlias = tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Something about an operator that its state cannot outlive; `mark` tells it from others."""

    what: str
    words: str = field(compare=False)
    mark: str


@dataclass(frozen=True, slots=True)
class StoredArgument:
    """What a measure is computed of: the column that has it while rows are folded."""

    column: str
    mark: str
    type: Type
    nullable: bool


@dataclass(frozen=True, slots=True)
class StoredMeasure:
    """A measure whose accumulators are stored; the mark says what is computed, of any type."""

    name: str
    function: str
    words: str = field(compare=False)
    mark: str
    arguments: tuple[StoredArgument, ...] = ()

    @property
    def subject(self) -> str:
        """Names the arguments as accumulators do."""
        return ",".join(item.column for item in self.arguments)


@dataclass(frozen=True, slots=True)
class StateForm:
    """The form of one operator's state.

    `rows` are the columns of rows it keeps whole, by input; `fields` what a process remembers;
    `measures` what an aggregate adds up.
    """

    kind: str
    step: str = field(compare=False)
    keys: Columns = ()
    fixed: tuple[Fixed, ...] = ()
    rows: tuple[tuple[str, Columns], ...] = ()
    fields: tuple[StateField, ...] = ()
    measures: tuple[StoredMeasure, ...] = ()
    retracts: bool = False
    """Whether rows of its input may be taken back."""
