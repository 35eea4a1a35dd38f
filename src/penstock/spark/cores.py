"""How many processors there are to work with."""

from __future__ import annotations

import os


def available_cores() -> int:
    """The processors this process may use, which can be fewer than the machine has."""
    # macOS cannot bind a process to processors.
    chosen = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return len(chosen) or os.cpu_count() or 1
