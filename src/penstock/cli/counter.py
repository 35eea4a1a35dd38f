"""A count that grows before the eyes of a person who waits."""

from __future__ import annotations

import sys
import time

from penstock.cli.output import decorated

_EVERY = 0.2
_FIRST_AFTER = 0.5
_CLEAR_LINE = "\r\x1b[K"


class Counter:
    """Shows on stderr how far a long operation has come; silent where nobody watches."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._is_watched = decorated(sys.stderr)
        self._is_shown = False
        self._next_at = time.monotonic() + _FIRST_AFTER

    def show(self, count: int) -> None:
        """Show the count, though not more often than an eye can follow."""
        if self._is_watched and time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + _EVERY
            self._is_shown = True
            sys.stderr.write(f"{_CLEAR_LINE}{count:,} {self._words}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line as it was found."""
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()
