"""Answers to statements as they are shown in a cell."""

from __future__ import annotations

import time
from collections import deque

from penstock.notebook.page import Page
from penstock.sql.answer import Cells, Followed, Listed

SHOWN = 20
_MOST_LISTED = 100


def listed_page(answer: Listed) -> Page:
    """Show rows that are all there; of very many the first."""
    count = len(answer.rows)
    words = f"{count} {'row' if count == 1 else 'rows'}"
    below = f"the first {_MOST_LISTED} of {words}" if count > _MOST_LISTED else words
    columns = tuple((name, "") for name in answer.columns)
    return Page("", columns, answer.rows[:_MOST_LISTED], below)


class FollowedRows:
    """Rows that come by and by; of a table the last of each key."""

    def __init__(self, answer: Followed) -> None:
        self._answer = answer
        self._rows = iter(answer.rows)
        self._latest: dict[Cells, Cells] = {}
        self._last: deque[Cells] = deque(maxlen=SHOWN)
        self._count = 0
        self._is_over = False

    def read(self) -> bool:
        """Take the rows that are there; the iterator waits a little where there are none."""
        before = self._count, self._is_over
        for row in self._rows:
            if row is None:
                break
            self._take(row)
        else:
            self._is_over = True
        return (self._count, self._is_over) != before

    def wait(self, seconds: float) -> None:
        """Wait where the rows themselves wait for nothing more."""
        if self._is_over:
            time.sleep(seconds)

    def page(self) -> Page:
        """Show the last rows."""
        keyed = bool(self._answer.keys)
        rows = list(self._latest.values())[-SHOWN:] if keyed else list(self._last)
        columns = tuple((name, "") for name in self._answer.columns)
        words = "row has come" if self._count == 1 else "rows have come"
        below = f"{self._count} {words}" + ("; there is no more" if self._is_over else "")
        return Page("", columns, tuple(rows), below)

    def close(self) -> None:
        """Ask for no more."""
        close = getattr(self._answer.rows, "close", None)
        if close is not None:
            close()

    def _take(self, row: Cells) -> None:
        self._count += 1
        keys = self._answer.keys
        if not keys:
            self._last.append(row)
            return
        key = tuple(repr(row[place]) for place in keys)
        self._latest.pop(key, None)
        others = [cell for place, cell in enumerate(row) if place not in keys]
        # A row of nothing but its key is gone.
        if not others or any(cell is not None for cell in others):
            self._latest[key] = row
