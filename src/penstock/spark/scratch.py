"""The folder of a session's own files: gone with its process, or soon after one that was killed."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "penstock-spark-"
_OWNER = "owner"
SCRATCH = "spark.penstock.scratch"
"""The setting of a session that names its folder."""


def new_scratch(parent: Path | None = None) -> Path:
    """Make a folder that is removed when this process ends; remove those of killed processes."""
    base = Path(tempfile.gettempdir()) if parent is None else parent
    remove_dead(base)
    scratch = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    fresh = scratch / f"{_OWNER}.new"
    # Open for as long as this process lives: the system lets go of the lock then.
    fcntl.flock(os.open(fresh, os.O_CREAT | os.O_WRONLY), fcntl.LOCK_EX)
    # Locked before it has its name: nobody finds it free while this process lives.
    fresh.rename(scratch / _OWNER)
    return scratch


def remove_dead(base: Path) -> None:
    """Remove the folders whose process is gone."""
    for owner in base.glob(f"{_PREFIX}*/{_OWNER}"):
        # Another process may be removing the same, or it is another user's.
        with contextlib.suppress(OSError), owner.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(owner.parent, ignore_errors=True)
