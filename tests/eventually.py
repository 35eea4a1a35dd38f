"""Waiting in tests for what comes about in another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(holds: Callable[[], bool], *, patience: float = 60.0, pause: float = 0.01) -> None:
    """Wait until something holds; it is an error when it does not come."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(pause)
