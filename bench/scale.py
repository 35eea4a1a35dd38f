"""How large a bench is: the sizes we publish, or small ones that only show that it runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a run, and the directory whose disk it measures."""

    quick: bool
    folder: Path
    asked: Mapping[str, str] = field(default_factory=dict)
    """What a bench with options of its own is asked for, by their names."""
    kept: Path | None = None
    """Where results are that a bench may add to; none where nothing is kept."""

    @property
    def name(self) -> str:
        """How results call it."""
        return "quick" if self.quick else "full"

    @property
    def pairs(self) -> int:
        """How many times each side of a comparison runs, by turns."""
        return self.of(7, 2)

    def of(self, full: int, quick: int) -> int:
        """Choose the size that belongs to this scale."""
        return quick if self.quick else full

    def settle(self) -> None:
        """Let the disk finish what earlier runs left to it, where the figures are to count."""
        if not self.quick:
            os.sync()

    @contextmanager
    def home(self) -> Iterator[Path]:
        """Give an empty directory that is gone afterwards."""
        # Not the system's temporary directory: that is often memory, where a sync costs nothing.
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="bench-") as made:
            yield Path(made)
