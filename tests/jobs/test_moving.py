from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import JobError, StateError, UsageError
from penstock.jobs import moving
from penstock.jobs.definitions import definition_store
from penstock.jobs.named import hushed, named
from penstock.jobs.submit import put_version, submit
from penstock.jobs.upgrade_file import Upgrade, write_upgrade
from tests.jobs.defined import a_program


def test_a_job_that_has_not_run_has_nothing_to_move(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    for move in (
        lambda: moving.rewind(tmp_path, "shop", "beginning"),
        lambda: moving.rescale(tmp_path, "shop", 3),
        lambda: moving.savepoint(tmp_path, "shop"),
    ):
        with pytest.raises(StateError, match="CHECKPOINT_MISSING"):
            move()
    assert len(definition_store(tmp_path).history("shop")) == 1


def test_a_job_whose_next_version_is_being_built_is_not_moved(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    write_upgrade(tmp_path, Upgrade("shop", "v2", str(tmp_path / "new"), ""))
    with pytest.raises(JobError, match="UPGRADE_BUSY"):
        moving.rewind(tmp_path, "shop", "beginning")


def test_a_checkpoint_that_its_job_has_left_is_not_touched(tmp_path: Path) -> None:
    submit(tmp_path, a_program())
    found = named(tmp_path, "shop")
    put_version(
        definition_store(tmp_path),
        "shop",
        a_program(above=2),
        change=lambda known: replace(known, checkpoint=str(tmp_path / "new")),
    )
    with pytest.raises(JobError, match="JOB_BUSY"), hushed(tmp_path, found, 1):
        pass


def test_a_folder_that_is_no_savepoint_makes_no_job(tmp_path: Path) -> None:
    with pytest.raises((StateError, UsageError)):
        moving.restore(tmp_path, "shop", tmp_path / "none")
    assert definition_store(tmp_path).names() == ()


def test_a_savepoint_lies_below_the_home_unless_said_otherwise(tmp_path: Path) -> None:
    folder = moving.new_folder(tmp_path, "shop")
    assert folder.parent == tmp_path / "savepoints"
    assert folder.name.startswith("shop-20")
