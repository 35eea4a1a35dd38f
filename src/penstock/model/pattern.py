"""What a sequence of rows must be like to match."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Pattern:
    """Steps in order, all within a time."""

    within: timedelta | None = None
