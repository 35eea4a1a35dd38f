"""The two sides of a checkpoint with a standby, and which of them leads.

One side is the checkpoint's own folder, the other the folder `standby` in it; each is a whole
checkpoint. `lead.json` says which counts, and in which term. Whoever leads a term holds its lock,
and whoever works on a side the lock of that side: the system frees both when a process dies.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.errors import RunError
from penstock.log.embedded.lock import FlockLock
from penstock.spark.job_files import JobFiles, read_json, side_files, write_json

OWN, STANDBY = "", "standby"
"""The names of the sides."""

_LEAD = "lead.json"
_PAIR = "sides.json"
_BEAT = "lead.beat"


@dataclass(frozen=True, slots=True)
class Lead:
    """Who leads, since which term; `inherited` is the last batch planned by the lead before.

    It is `ready` when its query has started, and `resting` after it was asked to stop.
    """

    side: str = OWN
    term: int = 0
    inherited: int = -1
    ready: bool = False
    resting: bool = False


@dataclass(frozen=True, slots=True)
class Sides:
    """The files of a checkpoint with two sides."""

    checkpoint: Path

    @property
    def lead(self) -> Lead:
        """Who leads now."""
        found = read_json(self.checkpoint / _LEAD)
        return Lead() if found is None else Lead(**found)

    def write_lead(self, lead: Lead) -> None:
        """Let a side lead from now on."""
        write_json(self.checkpoint / _LEAD, asdict(lead))

    def folder(self, side: str) -> Path:
        """Give the folder of a side."""
        return self.checkpoint / side

    def files(self, side: str) -> JobFiles:
        """Give the files of a side as it is now."""
        return side_files(self.folder(side))

    def lock(self, name: str) -> FlockLock:
        """Give a lock of the checkpoint, not held."""
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        return FlockLock(str(self.checkpoint / f"{name}.lock"))

    def side_lock(self, side: str) -> FlockLock:
        """Give the lock that whoever works on a side holds."""
        return self.lock(f"side-{side or 'own'}")

    def lead_lock(self, term: int) -> FlockLock:
        """Give the lock that the lead of a term holds."""
        return self.lock(f"lead-{term}")

    def forget_term(self, term: int) -> None:
        """Remove the lock of a term that is over."""
        (self.checkpoint / f"lead-{term}.lock").unlink(missing_ok=True)

    def beat(self) -> None:
        """Show that the lead is alive."""
        path = self.checkpoint / _BEAT
        path.touch()
        os.utime(path)

    def silent_for(self) -> float:
        """Give for how many seconds the lead has not shown that it is alive."""
        try:
            return time.time() - (self.checkpoint / _BEAT).stat().st_mtime
        except FileNotFoundError:
            return 0.0


def is_free(lock: FlockLock) -> bool:
    """Whether nobody holds a lock; it is closed."""
    try:
        return lock.acquire(0)
    finally:
        lock.close()


def require_no_lead(checkpoint: Path) -> None:
    """Refuse to work on a checkpoint that somebody leads."""
    sides = Sides(checkpoint.absolute())
    if not (sides.checkpoint / _LEAD).exists():
        return
    if not is_free(sides.lead_lock(sides.lead.term)):
        raise RunError(
            "STANDBY_TAKEN",
            f'the checkpoint "{checkpoint}" is led by a run of a job with a standby',
            hint="Stop the job first; see its runs with `penstock jobs list`.",
        )


def other(side: str) -> str:
    """Give the side across."""
    return OWN if side == STANDBY else STANDBY


def write_pair(files: JobFiles, sides: Sides, side: str) -> None:
    """Tell those who plan the batches of a side which checkpoint it belongs to."""
    write_json(files.folder / _PAIR, {"checkpoint": str(sides.checkpoint), "side": side})


def read_pair(files: JobFiles) -> tuple[Sides, str]:
    """Give the checkpoint that a side belongs to, and the side."""
    found = read_json(files.folder / _PAIR)
    assert found is not None
    return Sides(Path(found["checkpoint"])), str(found["side"])


def planned(files: JobFiles, number: int) -> dict[str, Any] | None:
    """Give the offset up to which a batch of a side goes; none where it is not planned yet."""
    try:
        text = (files.spark / "offsets" / str(number)).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    # A version, what Spark keeps of its own, and the offset of our one source under its name.
    lines = text.split("\n")
    with contextlib.suppress(ValueError, IndexError):
        found = lines[2]
        offset = json.loads(found[found.index("{") :])
        return dict(offset)
    return None
