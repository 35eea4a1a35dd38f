from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.model.physical import Physical, Settings
from penstock.spark.identity import identify
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import left_at


def program(window: str = "1 minute", *, parallelism: int = 2) -> Physical:
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    views.group_by("user").window(ps.tumbling(window)).agg(n=ps.count()).to("out")
    return app.physical(Settings(parallelism=parallelism))


def test_a_checkpoint_keeps_the_identity_of_its_job(tmp_path: Path) -> None:
    first = identify(JobFiles(tmp_path), program())
    assert identify(JobFiles(tmp_path), program()) == first


def test_a_program_with_other_operators_is_refused(tmp_path: Path) -> None:
    identify(JobFiles(tmp_path), program())
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM"):
        identify(JobFiles(tmp_path), program("2 minutes"))


def test_another_parallelism_is_refused(tmp_path: Path) -> None:
    identify(JobFiles(tmp_path), program())
    with pytest.raises(StateError, match="CHECKPOINT_PARALLELISM"):
        identify(JobFiles(tmp_path), program(parallelism=4))


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_job_file_that_is_not_one_is_refused(tmp_path: Path, content: str) -> None:
    files = JobFiles(tmp_path)
    identify(files, program())
    files.identity.write_text(content, encoding="utf-8")
    with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
        identify(files, program())


def test_an_offset_without_what_its_batch_left_is_refused(tmp_path: Path) -> None:
    offset = ProgramOffset.from_json(
        {"topics": {}, "clock": 0, "watermark": 0, "end": False, "marks": []}
    )
    with pytest.raises(StateError, match="PROGRESS_MISMATCH"):
        left_at(JobFiles(tmp_path), offset)
