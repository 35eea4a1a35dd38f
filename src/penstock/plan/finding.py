"""What a changed program means for one part of a job that runs the program before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["unchanged", "compatible", "migrate", "rebuild", "refuse"]
"""From the least to the most: the same; goes on as it is; its state becomes another; its results
are made again from the log; cannot be had."""
KINDS: tuple[Kind, ...] = ("unchanged", "compatible", "migrate", "rebuild", "refuse")


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: where it is, what it takes, and why. `forward`: one can let it begin now."""

    part: str
    kind: Kind
    reason: str
    forward: bool = False
    """Whether it changes only what is made of each row, so that a job may begin with it now."""


def hardest(kinds: tuple[Kind, ...]) -> Kind:
    """Give the one that takes most."""
    return max(kinds, key=KINDS.index, default="unchanged")
