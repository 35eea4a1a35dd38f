"""What a crash or a hand leaves of a job's files, and what is made of it before the next start."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.log.record import TopicPartition
from penstock.model.job_settings import Guarantee
from penstock.spark.give_up import beyond, passed_over, planned_before, prepare_files
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Left, write_left
from penstock.spark.spark_log import offset_of

PLACE = TopicPartition("visits", 0)


def at(position: int) -> ProgramOffset:
    return ProgramOffset({PLACE: position}, {"visits": "v1"}, 1000 * position, {"reached": None})


@pytest.fixture
def files(tmp_path: Path) -> JobFiles:
    """A job that has done batch 0 and 1 and has begun batch 2."""
    found = JobFiles(tmp_path / "job" / "0")
    for folder, numbers in (("offsets", 3), ("commits", 2)):
        (found.spark / folder).mkdir(parents=True)
        for number in range(numbers):
            text = f'v2\n{{"conf":{{}}}}\ninputs:{json.dumps(at(10 * number + 10).to_json())}'
            (found.spark / folder / str(number)).write_text(text)
    write_left(found.progress, left(1))
    return found


def left(number: int) -> Left:
    return Left(number, at(10 * number + 10), {"reached": 7})


def test_the_rows_of_a_batch_that_left_nothing_are_passed_over(files: JobFiles) -> None:
    prepare_files(files, "at-most-once")
    assert (files.begun, files.committed) == (1, 1)
    assert passed_over(files) == {PLACE: 30}
    assert beyond(at(20), passed_over(files)).positions == {PLACE: 30}
    assert beyond(at(40), passed_over(files)) == at(40)
    # A second start changes nothing more.
    prepare_files(files, "at-most-once")
    assert (files.begun, passed_over(files)) == (1, {PLACE: 30})


def test_a_batch_that_left_its_progress_counts_as_done(files: JobFiles) -> None:
    write_left(files.progress, left(2))
    prepare_files(files, "at-most-once")
    assert (files.begun, files.committed) == (2, 2)
    assert passed_over(files) == {}
    assert (files.spark / "commits" / "2").read_text() == 'v1\n{"nextBatchWatermarkMs":0}'


@pytest.mark.parametrize("guarantee", ["exactly-once", "at-least-once"])
def test_others_run_a_batch_that_was_begun_again(files: JobFiles, guarantee: Guarantee) -> None:
    prepare_files(files, guarantee)
    assert (files.begun, files.committed) == (2, 1)
    assert beyond(at(20), passed_over(files)) == at(20)


def test_a_batch_begun_under_at_most_once_stays_so_when_the_guarantee_changes(
    files: JobFiles,
) -> None:
    (files.spark / "offsets" / "2").rename(files.folder / "kept")
    prepare_files(files, "at-most-once")
    (files.folder / "kept").rename(files.spark / "offsets" / "2")
    prepare_files(files, "exactly-once")
    assert (files.begun, passed_over(files)) == (1, {PLACE: 30})


def test_the_first_batch_is_begun_anew_without_what_it_stored(tmp_path: Path) -> None:
    files = JobFiles(tmp_path / "0")
    (files.spark / "offsets").mkdir(parents=True)
    (files.spark / "state").mkdir()
    (files.spark / "offsets" / "0").write_text(f"v2\n{{}}\n{json.dumps(at(5).to_json())}")
    prepare_files(files, "at-most-once")
    assert passed_over(files) == {PLACE: 5}
    assert not files.spark.exists()


def test_a_last_batch_without_its_progress_is_run_again(files: JobFiles) -> None:
    (files.spark / "offsets" / "2").unlink()
    files.progress.unlink()
    prepare_files(files, "exactly-once")
    assert (files.begun, files.committed) == (1, 0)


def test_a_batch_that_spark_forgot_is_planned_as_it_was(files: JobFiles) -> None:
    for folder in ("offsets", "commits"):
        (files.spark / folder / "1").unlink(missing_ok=True)
    (files.spark / "offsets" / "2").unlink()
    assert planned_before(files, at(10)) == at(20)
    assert planned_before(files, at(20)) is None
    write_left(files.progress, replace(left(1), batch=0))
    assert planned_before(files, at(10)) is None


def test_an_entry_of_sparks_log_that_is_damaged_is_named(files: JobFiles) -> None:
    assert offset_of(files, 2) == at(30)
    (files.spark / "offsets" / "2").write_text("v2\n{}\nnothing")
    with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
        prepare_files(files, "at-most-once")
