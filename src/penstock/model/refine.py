"""How the panes of one window relate, and how long a window is kept for late rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["discarding", "accumulating", "retracting"]
Stamp: TypeAlias = Literal["end", "earliest", "latest"]

FOREVER = timedelta.max


@dataclass(frozen=True, slots=True)
class Refinement:
    """Discarding: each pane alone. Accumulating: each pane whole. Retracting: and takes back.

    `keep_late` is the allowed lateness: how far the watermark may pass a window's end before
    the window leaves; none takes that of the source. An empty pane comes on time where
    `empty_on_time`, and when the window leaves where `empty_final`. `stamp` says which event
    time a result carries: the end of its window, or that of its earliest or latest new row.
    """

    mode: Mode = "accumulating"
    keep_late: timedelta | None = None
    empty_on_time: bool = True
    empty_final: bool = False
    stamp: Stamp = "end"


DEFAULT_REFINEMENT = Refinement()
"""Accumulating, with the lateness of the source."""
