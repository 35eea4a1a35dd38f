"""Several programs run as one query: who they are, and how one leaves with what it knows.

A group is made of programs that begin together, so that all are at the same place for ever. One
that leaves (it is paused, has changed, or is to run alone) goes on from there with a checkpoint of
its own; one that comes later begins in another group, or alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.model.member import of_member
from penstock.model.physical import Physical
from penstock.plan.merge import merge, part_of
from penstock.spark.job_files import current_files
from penstock.spark.joint.files import Group, begun, write_group
from penstock.spark.savepoint import restore, save
from penstock.spark.stored_program import load_program
from penstock.spark.stored_states import require_program

_LEAVING = "leaving"


def let_one_leave(home: Path, group: Group, leaver: str, session: SparkSession | None) -> None:
    """Let one leave a group that does not run, and the others stay as they are."""
    checkpoint = group.checkpoint(home)
    others = [name for name in group.members if name != leaver]
    if begun(checkpoint):
        merged = load_program(str(require_program(current_files(checkpoint)))).physical
        staying = {name: part_of(merged, name) for name in others}
        let_leave(home, group, staying, lambda _: True, session)
    elif len(others) > 1:
        write_group(home, Group(group.name, {name: group.members[name] for name in others}))
    else:
        shutil.rmtree(checkpoint)


def let_leave(
    home: Path,
    group: Group,
    staying: Mapping[str, Physical],
    goes_on: Callable[[str], bool],
    session: SparkSession | None = None,
) -> None:
    """Let all but those who stay leave a group that does not run; one alone does not stay.

    Each leaver that is to go on gets a checkpoint of its own. Where this is cut off, doing it again
    does what was left: a leaver that has its checkpoint keeps it.
    """
    kept = dict(staying) if len(staying) > 1 else {}
    checkpoint = group.checkpoint(home)
    if begun(checkpoint):
        saved = checkpoint / _LEAVING
        shutil.rmtree(saved, ignore_errors=True)
        save(home, checkpoint, saved, session=session)
        merged = load_program(str(require_program(current_files(checkpoint)))).physical
        for name in group.members:
            alone = home / "jobs" / name
            if name not in kept and goes_on(name) and not begun(alone):
                part = part_of(merged, name)
                known = {keyed.id: of_member(name, keyed.id) for keyed in part.operators}
                restore(saved, alone, home=home, physical=part, operators=known)
        if kept:
            restore(saved, checkpoint, home=home, physical=merge(group.name, kept))
    if kept:
        shutil.rmtree(checkpoint / _LEAVING, ignore_errors=True)
        write_group(home, Group(group.name, {name: group.members[name] for name in kept}))
    else:
        shutil.rmtree(checkpoint)
