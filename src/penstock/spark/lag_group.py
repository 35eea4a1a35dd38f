"""How far a job has come, told where every tool looks for it: in a consumer group of its name.

Offsets are committed when the rows of a batch are visible, never before: a group of a job that has
read all has no lag only where all results are there. A batch that is run again commits the same.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from penstock.errors import GroupError
from penstock.log.port import Log
from penstock.model.physical import Physical, Scan
from penstock.plan.merge import members
from penstock.spark.inputs import input_log
from penstock.spark.progress_file import Left


def with_available(left: Left, log: Log, physical: Physical) -> Left:
    """Add where the partitions of a program end now, and when this is: how far it is behind."""
    topics = sorted({scan.stream.topic for scan in physical.scans})
    bounds = input_log(log, physical).snapshot(topics)
    ends = [(*place, bound.end) for place, bound in bounds.items()]
    now = round(1000 * time.time())
    return replace(left, told={**left.told, "available": ends, "ready_at": now})


def commit_lag(log: Log, physical: Physical, left: Left, before: Left | None) -> None:
    """Commit the positions after a batch to the group of the job, where they have moved."""
    # A batch that is run again finds what it left itself, and may not have come so far as here.
    known = None if before is None or before.batch == left.batch else before.at.positions
    if known is not None and dict(known) == dict(left.at.positions):
        return
    for group, topics in lag_groups(physical).items():
        offsets = {place: at for place, at in left.at.positions.items() if place.topic in topics}
        if offsets:
            # Somebody reads under the job's name: the group is theirs.
            with contextlib.suppress(GroupError):
                log.commit(group, offsets)


def lag_groups(physical: Physical) -> Mapping[str, frozenset[str]]:
    """Give the groups that show a program's lag, and the topics of each; files have none.

    Statements that share a query have each a group, though all are at the same place.
    """
    topics = _topics(physical.scans)
    return dict.fromkeys(members(physical) or (physical.name,), topics)


def _topics(scans: Iterable[Scan]) -> frozenset[str]:
    return frozenset(scan.stream.topic for scan in scans if scan.stream.files is None)
