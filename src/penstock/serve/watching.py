"""What a host does beside its jobs: it watches the rules of `[alerts]` and tells of lineage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.watch.watcher import Watcher


@contextmanager
def watching(home: Path) -> Iterator[Watcher]:
    """Watch a home for the length of a with block; rules that cannot be read are refused."""
    watcher = Watcher(home)
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()
