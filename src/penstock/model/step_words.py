"""A step in words, as drawings and explanations show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """What a step is, what it is about, and more of it."""

    kind: str
    title: str = ""
    details: tuple[str, ...] = ()
