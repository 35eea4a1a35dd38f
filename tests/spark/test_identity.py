from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.model.physical import Physical, Settings
from penstock.spark.identity import Identity, identify, keep_identity, read_identity
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import left_at
from penstock.spark.state_forms import state_forms


def program(window: str = "1 minute", *, parallelism: int = 2) -> Physical:
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    views.group_by("user").window(ps.tumbling(window)).agg(n=ps.count()).to("out")
    return app.physical(Settings(parallelism=parallelism))


def started(files: JobFiles, physical: Physical) -> Identity:
    """Do what a start does."""
    identity = identify(files, physical).identity
    keep_identity(files, identity)
    return identity


def committed(files: JobFiles, batch: int) -> None:
    """Do what the end of a batch does."""
    folder = files.spark / "commits"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / str(batch)).touch()


def test_a_checkpoint_keeps_the_identity_of_its_job(tmp_path: Path) -> None:
    first = started(JobFiles(tmp_path), program())
    assert started(JobFiles(tmp_path), program()) == first
    assert read_identity(JobFiles(tmp_path)) == first


def test_to_look_at_a_checkpoint_changes_nothing(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    identify(files, program())
    assert list(tmp_path.iterdir()) == []
    started(files, program())
    before = files.identity.read_bytes()
    identify(files, counting(n=ps.count(), most=ps.max("at")))
    assert files.identity.read_bytes() == before


def counting(**measures: Any) -> Physical:  # noqa: ANN401
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    views.group_by("user").window(ps.tumbling("1 minute")).agg(**measures).to("out")
    return app.physical()


def test_states_have_their_old_form_until_a_batch_is_done(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    one, two, three = (
        counting(n=ps.count()),
        counting(n=ps.count(), most=ps.max("at")),
        counting(n=ps.count(), most=ps.min("at")),
    )
    started(files, one)
    committed(files, 0)
    changed = started(files, two)
    assert changed.stored_forms(files) == state_forms(one)
    # Nothing was written in that form: another may follow, or the old one.
    assert started(files, one).stored_forms(files) == state_forms(one)
    assert started(files, three).stored_forms(files) == state_forms(one)
    started(files, two)
    committed(files, 1)
    known = read_identity(files)
    assert known is not None
    assert known.stored_forms(files) == state_forms(two)
    with pytest.raises(StateError, match="STATE_CHANGE"):
        identify(files, three)
    moved = known.moved(files)
    assert moved.stored_forms(JobFiles(tmp_path / "1")) == state_forms(two)


def test_what_a_change_does_is_told_once(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    started(files, counting(n=ps.count()))
    committed(files, 0)
    changed = counting(n=ps.count(), most=ps.max("at"))
    (text,) = identify(files, changed).warnings
    assert "count it from now on" in text
    started(files, changed)
    assert identify(files, changed).warnings == ()


def test_a_program_with_more_or_other_steps_is_refused(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    started(files, program())
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    views.dedup("at").group_by("user").agg(n=ps.count()).to("out")
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM") as caught:
        identify(files, app.physical())
    assert "has the operators dedup-1, agg-1, and what is stored is the state of agg-1" in (
        caught.value.fact
    )


def test_a_program_with_other_operators_is_refused(tmp_path: Path) -> None:
    started(JobFiles(tmp_path), program())
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM"):
        identify(JobFiles(tmp_path), program("2 minutes"))


def test_another_parallelism_is_refused(tmp_path: Path) -> None:
    started(JobFiles(tmp_path), program())
    with pytest.raises(StateError, match="CHECKPOINT_PARALLELISM"):
        identify(JobFiles(tmp_path), program(parallelism=4))


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_job_file_that_is_not_one_is_refused(tmp_path: Path, content: str) -> None:
    files = JobFiles(tmp_path)
    started(files, program())
    files.identity.write_text(content, encoding="utf-8")
    with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
        identify(files, program())


def test_an_offset_without_what_its_batch_left_is_refused(tmp_path: Path) -> None:
    offset = ProgramOffset.from_json(
        {"topics": {}, "clock": 0, "watermark": 0, "end": False, "marks": []}
    )
    with pytest.raises(StateError, match="PROGRESS_MISMATCH"):
        left_at(JobFiles(tmp_path), offset)
