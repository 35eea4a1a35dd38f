"""Checkpoints that are over: the job that remembered there goes on elsewhere.

Who still wants to go on from one would find it empty, begin anew, and write again what its
successor has written: a host that has not looked since, or a program that is run by hand. So a
mark stays.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from penstock.errors import StateError
from penstock.spark.job_files import read_json, write_json

_MARK = "over.json"


def retire(checkpoint: Path, successor: Path) -> None:
    """Forget what lies in a checkpoint, but for where its job goes on."""
    write_json(checkpoint / _MARK, {"successor": str(successor.absolute())})
    for path in checkpoint.iterdir():
        if path.name == _MARK:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def successor_of(checkpoint: Path) -> Path | None:
    """Give where the job of a checkpoint went on; none where it is there still."""
    found = read_json(checkpoint / _MARK)
    return None if found is None else Path(found["successor"])


def is_retired(checkpoint: Path) -> bool:
    """Whether a job goes on elsewhere; where that is gone, too, the place is free again."""
    place, seen = checkpoint, 0
    while (successor := successor_of(place)) is not None:
        place, seen = successor, seen + 1
    return seen > 0 and place.exists()


def require_current(checkpoint: Path) -> Path:
    """Give a checkpoint back; one whose job goes on elsewhere is refused."""
    if is_retired(checkpoint):
        raise StateError(
            "CHECKPOINT_OVER",
            f'the job of the checkpoint "{checkpoint}" was upgraded, and goes on in'
            f' "{successor_of(checkpoint)}"',
            hint="Let `penstock host` run it: it knows where; or give a new checkpoint.",
        )
    # A mark that leads nowhere means nothing any more.
    (checkpoint / _MARK).unlink(missing_ok=True)
    return checkpoint
