"""What is known of one function: its overloads, and what SHOW and DESCRIBE say of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from penstock.front.sql.functions.overload import Overload, overloads_of


@dataclass(frozen=True, slots=True)
class Entry:
    """One function: declarations, what it does, an example and what that gives.

    `function` is its name in the kernel's library, where that is another than its own.
    """

    declared: str
    description: str
    example: str
    result: str
    function: str = ""
    overloads: tuple[Overload, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "overloads", overloads_of(self.declared))


@dataclass(frozen=True, slots=True)
class Described:
    """What DESCRIBE FUNCTION shows."""

    name: str
    kind: Literal["scalar", "aggregate", "table"]
    category: str
    description: str
    overloads: tuple[str, ...]
    example: str
    result: str
    over: str = ""
    """The rows that the example is of, where it is of several."""
    gives: tuple[str, ...] = ()
    """The type that each form gives, where it is told apart from the form."""
