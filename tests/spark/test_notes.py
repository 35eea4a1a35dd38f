from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.log.record import TopicPartition
from penstock.spark.batch import first_marks
from penstock.spark.job_files import JobFiles
from penstock.spark.notes import known_notes, notes_file, read_notes, write_notes
from penstock.spark.program_offset import ProgramOffset

NOTES = {("agg-1", 0): b"\x00I\xff", ("agg-1", 3): b"F", ("top", 0): b""}


def at(position: int, clock: int = 0) -> ProgramOffset:
    places = {TopicPartition("views", 0): position}
    return ProgramOffset(places, {"views": "1"}, clock, first_marks(clock))


def test_notes_are_found_by_the_offset_where_their_batch_ended(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    write_notes(notes_file(files, at(1)), NOTES)
    write_notes(notes_file(files, at(1, clock=5)), {})
    read = ProgramOffset.from_json(at(1).to_json())
    assert read_notes(notes_file(files, read)) == NOTES
    assert read_notes(notes_file(files, at(1, clock=5))) == {}
    assert known_notes(str(notes_file(files, at(1)))) == NOTES


def test_a_batch_that_is_run_again_replaces_its_notes_and_workers_see_it(tmp_path: Path) -> None:
    path = notes_file(JobFiles(tmp_path), at(1))
    write_notes(path, NOTES)
    assert known_notes(str(path)) == NOTES
    write_notes(path, {("agg-1", 0): b"other"})
    assert known_notes(str(path)) == {("agg-1", 0): b"other"}


def test_notes_of_the_last_batches_are_kept_and_no_others(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    for number in range(9):
        path = notes_file(files, at(number))
        write_notes(path, {("agg-1", number): b"x"})
        os.utime(path, (number, number))
    assert len(list(files.notes.iterdir())) == 4
    assert read_notes(notes_file(files, at(8))) == {("agg-1", 8): b"x"}
    assert not notes_file(files, at(4)).exists()


def test_notes_that_are_missing_or_damaged_are_refused(tmp_path: Path) -> None:
    path = notes_file(JobFiles(tmp_path), at(1))
    with pytest.raises(StateError, match="STATE_FILE"):
        known_notes(str(path))
    write_notes(path, NOTES)
    content = bytearray(path.read_bytes())
    content[content.index(b"agg") + 1] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
        known_notes(str(path))
