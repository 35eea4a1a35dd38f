"""Checkpoints that are damaged, a disk that is full, a sink that is away: nothing is wrong after.

Every run here is of a copy of one checkpoint. All of them have the same name in the log, so that
the same batch of two copies is one batch, done again.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.errors import PenstockError, RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.spark import job_files, program_sink
from penstock.spark.job_files import current_files
from penstock.spark.notes import notes_file
from penstock.spark.spark_log import offset_of
from tests.spark.programs import Jobs, Row, append, batched, folded, rows, stored_rows, windowed

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

COLUMNS = {"page": "string", "n": "int64", "at": "timestamp"}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    return Jobs(spark, tmp_path / "home", tmp_path / "job")


def copied(jobs: Jobs, name: str) -> Jobs:
    place = jobs.checkpoint.with_name(name)
    shutil.copytree(jobs.checkpoint, place)
    return Jobs(jobs.spark, jobs.home, place)


def spoil(path: Path, how: str) -> None:
    """Cut a file off, or turn a bit of it."""
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes(whole[: max(1, middle)] if how == "cut" else flipped)


def failure(jobs: Jobs) -> PenstockError | None:
    try:
        jobs.start(windowed(), until="caught up").await_end()
    except PenstockError as error:
        return error
    return None


def test_no_damage_to_a_checkpoint_gives_wrong_results_or_words_of_java(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    append(log, rows(40))
    jobs.start(windowed(), rows=10, until="caught up").await_end()
    before = folded(stored_rows(log, "counts"))
    append(log, rows(20, first=40))
    peaceful = copied(jobs, "peaceful")
    last = str(current_files(jobs.checkpoint).committed)
    spoiled = {
        f"offsets/{last}": "mended",
        f"commits/{last}": "mended",
        "metadata": "mended",
        f"../notes/{last_notes(jobs).name}": "refused",
    }
    for name, wanted in spoiled.items():
        for how in ("cut", "flip"):
            copy = copied(jobs, f"{name.replace('/', '-')}-{how}")
            spoil(current_files(copy.checkpoint).spark / name, how)
            error = failure(copy)
            assert (error is None) == (wanted == "mended"), f"{name} {how}: {error}"
            if error is not None:
                told = str(error)
                assert "JOB_FILE_BROKEN" in told, told
                assert "Exception" not in told, told
                assert "\tat " not in told, told
    assert failure(peaceful) is None
    assert folded(stored_rows(log, "counts")) == folded(
        wanted_counts(rows(40) + rows(20, first=40))
    )
    assert before != folded(stored_rows(log, "counts"))


def last_notes(jobs: Jobs) -> Path:
    """Give the file that leads to the states after the last batch."""
    files = current_files(jobs.checkpoint)
    return notes_file(files, offset_of(files, files.committed))


def wanted_counts(given: list[Row]) -> list[Row]:
    """The windows that are closed after some rows."""
    return batched(windowed(), [(0, given)])["counts"]


def test_a_disk_that_is_full_stops_a_job_which_goes_on_when_it_has_room(
    log: EmbeddedLog, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, rows(40))

    def full(path: Path, *_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    # While it is started, and at the end of a batch.
    for module, name in ((job_files, "_written"), (program_sink, "write_left")):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, full)
            with pytest.raises(PenstockError, match=r"\[DISK_FULL\].*\.json"):
                jobs.start(windowed(), until="caught up").await_end()
    jobs.start(windowed(), until="caught up").await_end()
    assert folded(stored_rows(log, "counts")) == folded(wanted_counts(rows(40)))


@pytest.mark.soak  # it needs the right to mount
def test_a_small_disk_that_fills_up_loses_nothing(
    log: EmbeddedLog, jobs: Jobs, tmp_path: Path
) -> None:
    jobs.checkpoint.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(jobs.checkpoint)], check=True
    )
    try:
        codes, given = set(), []
        for turn in range(8):
            given += rows(40, first=40 * turn)
            append(log, rows(40, first=40 * turn))
            filler = jobs.checkpoint / "filler"
            if turn % 2:
                _fill(filler)
            error = failure(jobs)
            filler.unlink(missing_ok=True)
            if error is not None:
                codes.add("DISK_FULL" in str(error))
                assert failure(jobs) is None
        assert codes == {True}
        assert folded(stored_rows(log, "counts")) == folded(wanted_counts(given))
    finally:
        subprocess.run(["umount", str(jobs.checkpoint)], check=True)
        shutil.rmtree(tmp_path / "job", ignore_errors=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            return


def test_a_sink_that_is_away_gets_all_when_it_is_back(
    log: EmbeddedLog, jobs: Jobs, tmp_path: Path
) -> None:
    store, away = tmp_path / "store" / "results.sqlite", tmp_path / "away"
    store.parent.mkdir()
    app = ps.App("views")
    visits = app.stream("visits", schema=COLUMNS, event_time="at", lateness="5s")
    visits.select("page", "n").persist(store, "seen")
    program = app.plan()
    append(log, rows(10))
    jobs.start(program, until="caught up").await_end()
    query = jobs.start(program)
    try:
        store.parent.rename(away)
        store.parent.write_bytes(b"")
        append(log, rows(10, first=10))
        with pytest.raises(RunError, match="STORE_FAILED"):
            query.await_end()
    finally:
        query.stop()
    with pytest.raises(PenstockError, match="STORE_FAILED"):
        jobs.start(program, until="caught up")
    store.parent.unlink()
    away.rename(store.parent)
    jobs.start(program, until="caught up").await_end()
    with closing(sqlite3.connect(store)) as database:
        found: list[tuple[Any, ...]] = database.execute("SELECT n FROM seen").fetchall()
    assert sorted(found) == [(n,) for n in range(20)]


def test_a_topic_that_is_gone_or_another_is_told_and_the_job_goes_on_when_it_is_back(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    with pytest.raises(PenstockError, match="TOPIC_MISSING"):
        jobs.start(windowed(), until="caught up")
    append(log, rows(40))
    jobs.start(windowed(), until="caught up").await_end()
    log.delete_topic("visits")
    with pytest.raises(PenstockError, match="TOPIC_MISSING"):
        jobs.start(windowed(), until="caught up")
    append(log, rows(40))
    with pytest.raises(PenstockError, match="TOPIC_REPLACED"):
        jobs.start(windowed(), until="caught up")
