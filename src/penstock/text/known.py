"""Words for what may not be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

NOT_KNOWN = "not known"

Fact = TypeVar("Fact")


def or_not_known(fact: Fact | None, write: Callable[[Fact], str] = str) -> str:
    """Write a fact; where there is none, say so."""
    return NOT_KNOWN if fact is None else write(fact)
