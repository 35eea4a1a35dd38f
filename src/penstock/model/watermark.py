"""How complete the input is: what lets a source say that nothing earlier is expected.

Each partition has a watermark of its own and the slowest counts; one that has brought
nothing for `idle` is left out until it brings rows again. A time more than `max_ahead`
beyond the clock does not move the watermark, and its row is parked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.model.expr import Expr

_IDLE = timedelta(minutes=1)
_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class BoundedDisorder:
    """No row is more than `delay` behind the latest one of its partition."""

    delay: timedelta = timedelta(0)
    idle: timedelta | None = _IDLE
    max_ahead: timedelta | None = _AHEAD


@dataclass(frozen=True, slots=True)
class Punctuated:
    """Rows say it: where `column` is not null, its time is the partition's watermark.

    A row for which `control` holds carries nothing else and is not passed on.
    """

    column: str
    control: Expr | None = None
    idle: timedelta | None = _IDLE
    max_ahead: timedelta | None = _AHEAD


@dataclass(frozen=True, slots=True)
class Perfect:
    """Each partition is sorted by event time, and so never late."""

    idle: timedelta | None = _IDLE
    max_ahead: timedelta | None = _AHEAD


@dataclass(frozen=True, slots=True)
class AtEnd:
    """Nothing is complete before the input ends: what is read as a whole, as files are."""

    idle: timedelta | None = None
    max_ahead: timedelta | None = _AHEAD


Watermark: TypeAlias = BoundedDisorder | Punctuated | Perfect | AtEnd

IN_ORDER = BoundedDisorder()
"""A row earlier than the latest one of its partition is late."""
