"""What of a server is still starting: it answers before all of it can."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

Starting: TypeAlias = Callable[[], Sequence[str]]
"""Gives the names of what is not there yet."""


class Readiness:
    """Asks those who start something; once all are there, the server stays ready."""

    def __init__(self) -> None:
        self._asked: list[Starting] = []
        self._guard = threading.Lock()

    def watch(self, starting: Starting) -> None:
        """Ask somebody from now on."""
        with self._guard:
            self._asked.append(starting)

    def starting(self) -> tuple[str, ...]:
        """Give what is not there yet; nothing: the server is ready."""
        with self._guard:
            found = [(ask, tuple(ask())) for ask in self._asked]
            # A job that starts again later on makes the server no less ready.
            self._asked = [ask for ask, names in found if names]
            return tuple(name for _, names in found for name in names)
