"""What is done before a job goes on with files that a crash, or a hand, has left incomplete.

A job that gives each result at most once never works on the same rows again. Spark writes down
where a batch ends before it runs, and so a batch that was begun is known by that. Either it has
left its progress, then its states are complete and it counts as done, whatever of its rows became
visible. Or it has not, then nothing of it was visible: its rows are passed over, and the states
are those of the batch before.

Any other job runs such a batch again. It can also do so where an entry of Spark's log or the
progress of the last batch is gone, since what it has given is noted with its results.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from penstock.log.record import TopicPartition
from penstock.model.job_settings import Guarantee
from penstock.spark.job_files import JobFiles, read_json, write_json
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import read_left
from penstock.spark.spark_log import forget_entry, offset_of, write_commit

_PASSED = "passed-over.json"
_GUARANTEE = "guarantee.json"


def prepare_files(files: JobFiles, guarantee: Guarantee) -> None:
    """Settle what the last run has left half done, as its own guarantee says and that of now."""
    known = read_json(files.folder / _GUARANTEE)
    before = guarantee if known is None else known["guarantee"]
    if "at-most-once" in (before, guarantee):
        give_up(files)
    else:
        mend(files)
    if files.begun < 0:
        # Spark refuses to begin where states lie already.
        shutil.rmtree(files.spark, ignore_errors=True)
    if guarantee != ("exactly-once" if known is None else before):
        write_json(files.folder / _GUARANTEE, {"guarantee": guarantee})


def give_up(files: JobFiles) -> None:
    """Let a batch that was begun and is not done never be run again."""
    begun = files.begun
    if begun <= files.committed:
        return
    left = read_left(files.progress)
    if left is not None and left.batch == begun:
        write_commit(files, begun)
        return
    # First what is passed over: when this is interrupted, it is done again.
    write_json(_passed(files), {"offset": offset_of(files, begun).to_json()})
    forget_entry(files.spark / "offsets", begun)


def mend(files: JobFiles) -> None:
    """Let the last batch run again where what it left is gone."""
    done = files.committed
    if done >= 0 and done == files.begun and not files.progress.exists():
        forget_entry(files.spark / "commits", done)


def passed_over(files: JobFiles) -> Mapping[TopicPartition, int]:
    """Give the offsets before which no row is read any more; none for most jobs."""
    found = read_json(_passed(files))
    return {} if found is None else ProgramOffset.from_json(found["offset"]).positions


def beyond(offset: ProgramOffset, passed: Mapping[TopicPartition, int]) -> ProgramOffset:
    """Give an offset without the rows that are passed over."""
    if not passed:
        return offset
    further = {at: max(found, passed.get(at, found)) for at, found in offset.positions.items()}
    return replace(offset, positions=further)


def planned_before(files: JobFiles, begin: ProgramOffset) -> ProgramOffset | None:
    """Give where the batch after an offset ended, if it ran and Spark's log has lost it.

    It is to have the same rows, clock and watermarks: what it has given is noted by its number.
    """
    left = read_left(files.progress)
    if left is None or left.at == begin or left.batch != files.begun + 1:
        return None
    return left.at


def _passed(files: JobFiles) -> Path:
    return files.folder / _PASSED
