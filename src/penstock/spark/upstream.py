"""Recovery from the log alone: a job that keeps nothing between its runs but what the log has.

Its batches are noted in a topic (see `recovery.batch_log`), its results as ever. At a start Spark's
checkpoint of the run before is dropped. The noted batches are run again from the first whose rows
are still needed, with the same rows, clock and watermarks, so that the states become what they
were. What was visible is not given again: results note the number of their batch.

The last batch that is noted may not be visible yet: the batches before it decide what is needed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import StateError
from penstock.log.port import Log
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical, Scan
from penstock.model.watermark import BoundedDisorder, Perfect
from penstock.plan.needed import needed_for
from penstock.spark.batch_log import BatchLog, Noted, batch_topic
from penstock.spark.delivery import NOTHING
from penstock.spark.identity import read_identity
from penstock.spark.job_files import JobFiles, read_json, write_json
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import BEFORE_ALL, Left, Start, read_start, write_start

_AGAIN = "again.json"
_JOB = "upstream-"
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Again:
    """Which batches a generation began with: those noted from `first` to `last` in a topic.

    Batches up to `silent_until` are known to be visible, whatever their results note.
    """

    topic: str
    first: int = 0
    last: int = BEFORE_ALL
    silent_until: int = NOTHING


def read_again(files: JobFiles) -> Again | None:
    """Give what a generation began with; none where the job keeps a checkpoint."""
    found = read_json(files.folder / _AGAIN)
    if found is None:
        return None
    return Again(found["topic"], found["first"], found["last"], found["silent_until"])


def drop_checkpoint(files: JobFiles, log: Log, physical: Physical) -> None:
    """Forget what the run before has left; that of a job with a checkpoint is refused.

    A generation that begins anew at a place of its own, as one that was rewound, forgets the
    batches before it.
    """
    known, start = read_identity(files), read_start(files.start)
    if known is not None and start is not None and not known.job.startswith(_JOB):
        batches = _batches(files, log, physical)
        if files.begun < 0 and start.left is None:
            batches.remove()
            return
        _require_same_place(files, start, batches)
    shutil.rmtree(files.memory, ignore_errors=True)
    # Last what tells whose files these are: when this is interrupted, it is done again.
    shutil.rmtree(files.spark, ignore_errors=True)
    shutil.rmtree(files.folder, ignore_errors=True)


def _require_same_place(files: JobFiles, start: Start, batches: BatchLog) -> None:
    """Refuse a state that the log does not lead to: it would be lost."""
    ends = [noted.start.offset for noted in batches.read()][-1:] if batches.exists else []
    if files.begun >= 0 or ends != [start.offset]:
        raise StateError(
            "RECOVERY_CHANGED",
            f'the checkpoint "{files.folder.parent}" holds a state that its job is not known to'
            " have come to by the batches that the log has",
            hint="Rebuild the job, or give it a new checkpoint, to let it recover from the log"
            ' alone; or run it with recovery="passive".',
        )


def _batches(files: JobFiles, log: Log, physical: Physical) -> BatchLog:
    return BatchLog(log, batch_topic(physical.name, files.folder.parent.name))


def rebuild_from_log(
    files: JobFiles,
    log: Log,
    physical: Physical,
    guarantee: Guarantee,
    begin: Callable[[], ProgramOffset],
) -> str:
    """Let a generation begin with the batches that are noted; give the job's name in the log.

    `begin` is asked where the job begins, if it never has.
    """
    batches = _batches(files, log, physical)
    name = f"{_JOB}{batches.ensure()}"
    noted = list(batches.read())
    if not noted:
        noted = [Noted(BEFORE_ALL, read_start(files.start) or Start(begin()))]
        batches.append(noted[0])
    _require_kept(noted, physical)
    at = noted[needed_index(noted, physical.scans, needed_for(physical))]
    last = noted[-1].number
    # A batch is noted when all of the one before it is visible.
    silent = last if guarantee == "at-most-once" else last - 1
    write_json(
        files.folder / _AGAIN,
        {
            "topic": batches.topic,
            "first": at.number + 1,
            "last": last,
            "silent_until": silent,
        },
    )
    write_start(files.start, at.start)
    return name


def _require_kept(noted: Sequence[Noted], physical: Physical) -> None:
    """Refuse a program that needs more than the one before it, which has let go of batches."""
    first, last = noted[0], noted[-1].start.offset
    if first.number == BEFORE_ALL or last.ended:
        return
    if not is_needless(first, last, physical.scans, needed_for(physical)):
        raise StateError(
            "BATCHES_FORGOTTEN",
            f'program "{physical.name}" needs rows from before batch {first.number} to remember'
            " what it should, and the batches before that are forgotten",
            hint="It has changed and remembers for longer than before: rebuild it.",
        )


def needed_index(noted: Sequence[Noted], scans: Sequence[Scan], needed: timedelta | None) -> int:
    """Give the last of the noted batches that nothing depends on which is still remembered.

    All of its rows must be so far behind the watermark that was before the last batch.
    """
    last = noted[-1].start.offset
    if last.ended:
        return len(noted) - 1
    index = 0
    while index < len(noted) - 2 and is_needless(noted[index + 1], last, scans, needed):
        index += 1
    return index


def is_needless(
    noted: Noted, last: ProgramOffset, scans: Sequence[Scan], needed: timedelta | None
) -> bool:
    """Whether nothing depends on the rows up to a batch that the last one could have given."""
    if needed is None or last.marks is None:
        return False
    if needed == timedelta(0):
        return True
    newest, reached = newest_row(noted.start.left, scans), last.marks["reached"]
    return newest is not None and reached is not None and newest + _millis(needed) < reached


def newest_row(left: Left | None, scans: Sequence[Scan]) -> int | None:
    """Give the latest event time up to a batch; none where the watermarks do not tell it."""
    delays = {scan.id: _delay(scan) for scan in scans}
    if left is None or any(delay is None for delay in delays.values()):
        return None
    marks: Sequence[Sequence[int | str]] = left.marks["marks"]
    found = [int(mark[2]) + (delays.get(str(mark[0])) or 0) for mark in marks]
    return max(found, default=None)


def _delay(scan: Scan) -> int | None:
    match scan.stream.watermark:
        case BoundedDisorder(delay=delay):
            return _millis(delay)
        case Perfect():
            return 0
        case _:
            return None


def _millis(span: timedelta) -> int:
    return span // _MILLISECOND
