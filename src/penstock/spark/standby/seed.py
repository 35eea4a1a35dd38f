"""What a standby begins with: a copy of its primary's checkpoint as it is between two batches.

Files of a checkpoint are never changed once they are there, so the copy is made of links and
takes no room. It is taken where no batch is in hand: by the standby while the primary waits for
rows, and by a primary that never waits before the first step of its next batch.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from uuid import uuid4

from penstock.spark.job_files import (
    JobFiles,
    next_side_files,
    switch_side,
    write_durably,
)
from penstock.spark.standby_files import Sides, other

_WANTED = "seed.wanted"
_SEED = "seed"


def want_seed(sides: Sides, side: str) -> None:
    """Ask the lead to give a side what it has, before its next batch."""
    write_durably(sides.checkpoint / _WANTED, side.encode())


def unwant_seed(sides: Sides) -> None:
    """Ask no more."""
    (sides.checkpoint / _WANTED).unlink(missing_ok=True)


def is_wanted(sides: Sides) -> bool:
    """Whether a side still waits."""
    return (sides.checkpoint / _WANTED).exists()


def seed_wanted(sides: Sides, side: str) -> None:
    """Give the other side of a lead what it asked for; no step of a batch has begun yet."""
    # Spark begins a first batch even without a plan: nobody follows before the lead has done it.
    if not is_wanted(sides) or sides.files(side).committed < 0:
        return
    lock = sides.lock(_SEED)
    lock.acquire()
    try:
        if is_wanted(sides):
            _seed(sides.files(side), sides.folder(other(side)))
            unwant_seed(sides)
    finally:
        lock.close()


def seed_while_quiet(sides: Sides, side: str) -> bool:
    """Take what the lead has, where it waits for rows; whether the side has what it needs."""
    lock = sides.lock(_SEED)
    lock.acquire()
    try:
        if not is_wanted(sides):
            return True
        lead = sides.files(other(side))
        before = lead.committed
        if before < 0 or lead.begun != before or lead.program is None:
            return False
        _seed(lead, sides.folder(side))
        # A batch that has begun meanwhile may have changed what was being taken.
        if lead.begun != before:
            return False
        unwant_seed(sides)
        return True
    finally:
        lock.close()


def _seed(lead: JobFiles, side: Path) -> None:
    """Make a side the like of another, in a generation of its own."""
    fresh = next_side_files(side)
    _link(lead.folder, fresh.folder)
    for found, name in ((lead.memory, "memory"), (lead.folder.parent / "static", "static")):
        shutil.rmtree(side / name, ignore_errors=True)
        _link(found, side / name)
    metadata = fresh.spark / "metadata"
    if metadata.exists():
        # Spark tells queries apart by it.
        write_durably(metadata, json.dumps({"id": str(uuid4())}).encode())
    switch_side(side, fresh)


def _link(source: Path, target: Path) -> None:
    for folder, _, names in os.walk(source):
        place = target / Path(folder).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            # Those on their way to their names are nothing yet.
            if not name.startswith(".") and not name.endswith((".new", ".tmp")):
                _link_file(Path(folder) / name, place / name)


def _link_file(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        # Cleaned away meanwhile, since no batch to come can ask for it.
        return
    except OSError:
        shutil.copyfile(source, target)
