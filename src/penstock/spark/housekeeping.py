"""What runs that died, and generations that are over, have left behind: removed at a start.

Spark removes the entries of its own logs and states that no batch can ask for any more while a
query runs, see `SPARK_RETAINS`.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK
from penstock.spark.job_files import JobFiles, forget_others
from penstock.spark.stage import STAGING
from penstock.spark.state_files import files_of

SPARK_RETAINS: Mapping[str, str] = {
    # Of these only the last two are ever asked for: of large states no more are kept either.
    "spark.sql.streaming.minBatchesToRetain": "10",
}
"""How much of what is over Spark keeps."""

_DAY = 24 * 60 * 60 * 1000
# The last batches may be run again, even where they were done: see `spark.checkpoint_check`.
_AGAIN = 3


def tidy(files: JobFiles, home: str | Path) -> None:
    """Remove what is left behind in a checkpoint that is gone on with, and beside the log."""
    tidy_checkpoint(files)
    tidy_staging(home)


def tidy_checkpoint(files: JobFiles) -> None:
    """Remove what a checkpoint holds that its current generation does not need."""
    forget_others(files)
    if files.committed >= _AGAIN:
        shutil.rmtree(files.inherited, ignore_errors=True)
    elif files.begun < 0 and files.inherited.exists():
        forget_states(files)
    for left in (*files.folder.glob("*.new"), *files.memory.glob("*/*/*.new")):
        left.unlink(missing_ok=True)


def forget_states(files: JobFiles) -> None:
    """Remove the files of large states that no note leads to which a generation begins with."""
    for path in files.memory.glob("*/*/*"):
        bucket = path.parent
        note = files.inherited / bucket.parent.name / f"{bucket.name}.state"
        if not note.exists() or path.name not in files_of(note.read_bytes()):
            path.unlink(missing_ok=True)


def tidy_staging(home: str | Path, now: int | None = None) -> None:
    """Remove rows written aside more than a day ago: their runs are dead, or their batches done."""
    moment = SYSTEM_CLOCK.now() if now is None else now
    for folder in (Path(home) / STAGING).glob("*"):
        # Another process may be removing the same.
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                if path.stat().st_mtime * 1000 < moment - _DAY:
                    path.unlink(missing_ok=True)
            if folder.stat().st_mtime * 1000 < moment - _DAY:
                folder.rmdir()
