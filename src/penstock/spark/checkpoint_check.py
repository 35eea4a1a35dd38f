"""Damage in the two logs that Spark keeps of a job's batches: mended where nothing is lost by it.

Spark writes where a batch ends before it runs (`offsets`), and that it is done (`commits`). Its
files have no checksums here; our offsets have one inside. An entry that is damaged can be done
without where the batch can be run again as it was: `spark.progress_file` holds where it ended if
anything of it may be visible, and the states before it are still there. All else is refused.
"""

from __future__ import annotations

import json
from uuid import UUID, uuid4

from penstock.errors import StateError
from penstock.spark.job_files import CURRENT, JobFiles, write_durably
from penstock.spark.progress_file import read_left
from penstock.spark.spark_log import forget_entry, offset_of, write_commit

_LINES = 2
_VERSIONS = ("v1", "v2")
# By another name Spark would not find our offset, and begin anew.
_SOURCE = "inputs:{"


def require_files(files: JobFiles) -> None:
    """Refuse a checkpoint that lacks what its batches depend on: it would begin anew, unasked."""
    side = files.folder.parent
    wanted = [files.identity, files.start] if files.begun >= 0 else []
    later = [path for path in side.glob("[1-9]*") if path.name.isdigit()]
    if later and not (side / CURRENT).exists():
        wanted.append(side / CURRENT)
    for path in wanted:
        if not path.exists():
            raise StateError(
                "JOB_FILE_BROKEN",
                f'"{path}" is missing',
                hint="Restore the job from a savepoint, or give it a new checkpoint.",
            )


def mend_logs(files: JobFiles) -> None:
    """Take out entries that are damaged and not needed; refuse a checkpoint that needs them."""
    require_files(files)
    _mend_id(files)
    begun, done = files.begun, files.committed
    if done >= 0 and not _is_commit(files, done):
        if begun > done:
            # The batch after it has begun: it was done.
            write_commit(files, done)
        else:
            forget_entry(files.spark / "commits", done)
    for number in (begun, begun - 1):
        if number >= 0 and not _is_offset(files, number):
            _mend_offset(files, number)
            return


def _mend_id(files: JobFiles) -> None:
    """Give the query a new id, on which nothing depends, where its own is damaged or gone."""
    path = files.spark / "metadata"
    try:
        UUID(json.loads(path.read_text(encoding="utf-8"))["id"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        if files.begun >= 0:
            write_durably(path, json.dumps({"id": str(uuid4())}).encode())


def _mend_offset(files: JobFiles, number: int) -> None:
    begun, done, left = files.begun, files.committed, read_left(files.progress)
    last = -1 if left is None else left.batch
    # Of a batch that has left nothing nothing is visible, and it is planned anew. One that has is
    # planned again as it was. A batch before that which has left something is out of reach.
    if number == begun and (last == number or (last < number and done < number)):
        _forget_batch(files, number)
    elif number == begun - 1 == last == done:
        _forget_batch(files, begun)
        _forget_batch(files, number)
    else:
        raise StateError(
            "CHECKPOINT_BROKEN",
            f'"{files.spark / "offsets" / str(number)}" is not what Spark wrote, and the batch'
            " cannot be run again without it",
            hint="Restore the job from a savepoint, or rewind it.",
        )


def _forget_batch(files: JobFiles, number: int) -> None:
    forget_entry(files.spark / "commits", number)
    forget_entry(files.spark / "offsets", number)


def _is_commit(files: JobFiles, number: int) -> bool:
    try:
        lines = (files.spark / "commits" / str(number)).read_text(encoding="utf-8").splitlines()
        found = json.loads(lines[1])
    except (ValueError, IndexError):
        return False
    known = isinstance(found, dict) and found.get("nextBatchWatermarkMs") == 0
    return known and len(lines) == _LINES and lines[0] in _VERSIONS


def _is_offset(files: JobFiles, number: int) -> bool:
    path = files.spark / "offsets" / str(number)
    if not path.exists():
        return True
    try:
        offset_of(files, number)
        lines = path.read_text(encoding="utf-8").splitlines()
        told = len(lines) == _LINES + 1 and isinstance(json.loads(lines[1]), dict)
        return told and lines[0] in _VERSIONS and lines[2].startswith(_SOURCE)
    except (StateError, ValueError, IndexError, TypeError, AttributeError):
        return False
