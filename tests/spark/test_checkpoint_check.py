"""Files of a checkpoint that are damaged: mended where nothing is lost, or refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.errors import PenstockError, StateError
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.checkpoint_check import mend_logs
from penstock.spark.give_up import planned_before
from penstock.spark.housekeeping import tidy, tidy_staging
from penstock.spark.identity import read_identity
from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.progress_file import read_left, read_start
from penstock.spark.rescale import rescale
from penstock.spark.rewind import rewind
from penstock.spark.savepoint import restore, save
from penstock.spark.stored_program import load_program
from penstock.spark.stored_states import require_program
from tests.spark.programs import append, rows
from tests.spark.spark_folder import offset_after, write_batch
from tests.spark.stored_job import entered


@pytest.fixture
def files(log: EmbeddedLog, home: Path, tmp_path: Path) -> JobFiles:
    append(log, rows(10))
    return entered(home, tmp_path / "job")


def damaged(path: Path) -> Iterator[str]:
    """Damage a file in several ways, and mend it in the end."""
    whole = path.read_bytes()
    flips = range(0, len(whole), max(1, len(whole) // 40))
    wrong = [whole[:-1], whole[: len(whole) // 2], b""]
    wrong += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in flips]
    for number, content in enumerate(wrong):
        path.write_bytes(content)
        yield f"{path.name} {number}"
    path.write_bytes(whole)


def test_no_bit_of_a_file_of_ours_changes_unnoticed(files: JobFiles) -> None:
    write_batch(files, 0)
    checkpoint = files.folder.parent

    def readings() -> list[object]:
        found = current_files(checkpoint)
        program = load_program.__wrapped__(str(require_program(found))).physical.name
        return [
            found.folder,
            read_start(found.start),
            read_left(found.progress),
            read_identity(found),
            program,
        ]

    good = readings()
    for path in (
        checkpoint / "current.json",
        files.start,
        files.progress,
        files.identity,
        require_program(files),
    ):
        for case in damaged(path):
            told, found = refused(readings)
            assert told in {"", "JOB_FILE_BROKEN", "CHECKPOINT_BROKEN"}, case
            assert told or found == good, case


def refused(readings: Callable[[], list[object]]) -> tuple[str, list[object]]:
    """Give the code with which a reading is refused, or what is read."""
    try:
        return "", readings()
    except PenstockError as error:
        return error.code, []


def test_no_bit_of_spark_s_logs_changes_what_batches_have(files: JobFiles) -> None:
    good = offset_after(files, 2)
    for kind in ("offsets", "commits"):
        for number in range(3):
            write_batch(files, number)
        path = files.spark / kind / "2"
        both = [files.spark / name / "2" for name in ("offsets", "commits")]
        whole = [entry.read_bytes() for entry in both]
        for case in damaged(path):
            for entry, content in zip(both, whole, strict=True):
                if entry != path:
                    entry.write_bytes(content)
            mend_logs(files)
            # Either it stands as it was, or the batch is run again with the same end.
            if files.begun < 2:
                assert planned_before(files, offset_after(files, 1)) == good, case
                assert files.committed == 1
            elif files.committed < 2:
                assert path.parent.name == "commits"


def test_a_batch_that_has_left_nothing_is_planned_anew(files: JobFiles) -> None:
    for number in range(2):
        write_batch(files, number)
    write_batch(files, 2, done=False)
    (files.spark / "offsets" / "2").write_text("v2\n{}\ninputs:{")
    (files.spark / "commits" / "1").write_bytes(b"")
    mend_logs(files)
    assert (files.begun, files.committed) == (1, 1)
    assert planned_before(files, offset_after(files, 1)) is None


def test_spark_s_id_of_a_query_is_made_anew_where_it_is_damaged(files: JobFiles) -> None:
    write_batch(files, 0)
    path = files.spark / "metadata"
    for wrong in (None, b"", b'{"id":"x"}', b"[]"):
        path.unlink(missing_ok=True)
        if wrong is not None:
            path.write_bytes(wrong)
        mend_logs(files)
        good = path.read_bytes()
        assert len(good) > 40
        mend_logs(files)
        assert path.read_bytes() == good


def test_an_offset_that_is_needed_and_damaged_is_refused(files: JobFiles) -> None:
    for number in range(3):
        write_batch(files, number)
    (files.spark / "offsets" / "1").write_bytes(b"")
    with pytest.raises(StateError, match="CHECKPOINT_BROKEN") as caught:
        mend_logs(files)
    assert "offsets/1" in str(caught.value)


def test_a_job_whose_own_files_are_missing_does_not_begin_anew(files: JobFiles, home: Path) -> None:
    checkpoint = files.folder.parent
    write_batch(files, 0)
    for path in (files.identity, files.start, checkpoint / "current.json"):
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(StateError, match="JOB_FILE_BROKEN") as caught:
            mend_logs(current_files(checkpoint))
        if path.name != "current.json":
            assert path.name in str(caught.value)
        with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
            rescale(home, checkpoint, 3)
        path.write_bytes(whole)
    mend_logs(files)


def test_what_is_over_is_removed(files: JobFiles, home: Path) -> None:
    checkpoint = files.folder.parent
    for name in ("0", "7"):
        (checkpoint / name).mkdir()
    large = files.memory / "agg-1" / "3" / "9-ab.state"
    large.parent.mkdir(parents=True)
    large.write_bytes(b"x")
    (files.folder / "progress.json.17.new").write_bytes(b"")
    old, new = (home / "staging" / name / "1-a.arrows" for name in ("program-a", "program-b"))
    for path in (old, new):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    for path in (old, old.parent):
        os.utime(path, (0, 0))
    tidy(files, home)
    # What it begins with stays until its batches can no longer be run again from the first.
    assert {path.name for path in checkpoint.glob("[0-9]*")} == {files.folder.name}
    assert not large.exists()
    assert not list(files.folder.glob("*.new"))
    assert not old.exists()
    assert new.exists()
    for number in range(3):
        write_batch(files, number)
        tidy(files, home)
        assert files.inherited.exists()
    write_batch(files, 3)
    tidy(files, home)
    assert not files.inherited.exists()
    tidy_staging(home, 2**50)
    assert not new.exists()


def test_a_savepoint_or_a_rewind_goes_over_a_checkpoint_that_is_beyond_mending(
    files: JobFiles, home: Path, tmp_path: Path
) -> None:
    checkpoint = files.folder.parent
    point = save(home, checkpoint, tmp_path / "point")
    for turn, name in enumerate(("job.json", "start.json", "current.json")):
        found = current_files(checkpoint)
        (checkpoint / name if name == "current.json" else found.folder / name).write_bytes(b"")
        with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
            save(home, checkpoint, tmp_path / "none")
        if name != "current.json":
            rewound = rewind(home, checkpoint, "beginning")
            assert (rewound.before, set(rewound.after.values())) == ({}, {0})
        restore(point.folder, checkpoint, home=home)
        assert len([path for path in checkpoint.iterdir() if path.name.isdigit()]) == 1
        assert save(home, checkpoint, tmp_path / f"other{turn}").forms == point.forms
