"""Clocks that Spark's planner can read: this machine's, or a file that somebody moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock


@dataclass(frozen=True, slots=True)
class FileClock:
    """A clock that stands where a file says, so that another process can move it."""

    path: Path

    def now(self) -> int:
        """Milliseconds since 1970; 0 before the clock was first set."""
        try:
            return int(self.path.read_text(encoding="ascii") or 0)
        except FileNotFoundError:
            return 0

    def set(self, millis: int) -> None:
        """Move the clock."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.write_text(str(millis), encoding="ascii")
        fresh.replace(self.path)


def clock_at(path: str) -> Clock:
    """Give the clock that an option names: a file's, or where it is empty the machine's."""
    return FileClock(Path(path)) if path else SYSTEM_CLOCK
