"""How results relate: the words for refinements.

`keep_late` is how long a window is kept for late rows. An empty result comes on time where
`empty_on_time`, and when the window leaves where `empty_final`. `stamp` says which event time
a result carries: the end of its window, or that of its earliest or latest new row.
"""

from __future__ import annotations

from typing import TypedDict

from typing_extensions import Unpack

from penstock.front.dsl.place import placed
from penstock.model.duration import Duration, duration_of
from penstock.model.refine import Mode, Refinement, Stamp


class Lateness(TypedDict, total=False):
    """What all refinements have in common."""

    keep_late: Duration | None
    empty_on_time: bool
    empty_final: bool
    stamp: Stamp


@placed
def discarding(**settings: Unpack[Lateness]) -> Refinement:
    """Each result tells only what is new since the one before."""
    return _refinement("discarding", settings)


@placed
def accumulating(**settings: Unpack[Lateness]) -> Refinement:
    """Each result is whole and stands for the one before."""
    return _refinement("accumulating", settings)


@placed
def retracting(**settings: Unpack[Lateness]) -> Refinement:
    """Each result is whole, and the one before is taken back."""
    return _refinement("retracting", settings)


def _refinement(mode: Mode, settings: Lateness) -> Refinement:
    late = settings.get("keep_late")
    return Refinement(
        mode,
        None if late is None else duration_of(late),
        settings.get("empty_on_time", True),
        settings.get("empty_final", False),
        settings.get("stamp", "end"),
    )
