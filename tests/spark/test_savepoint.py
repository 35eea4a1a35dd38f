"""A stopped job is saved as a folder, and jobs that begin from it go on as it would have."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.errors import OffsetError, PenstockError, RunError, StateError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.plan.planner import plan
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import write_json
from penstock.spark.rescale import rescale
from penstock.spark.savepoint import (
    keep_savepoints,
    read_savepoint,
    restore,
    save,
    savepoints,
)
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import (
    Jobs,
    append,
    by_page,
    chained,
    renamed,
    rows,
    stored_rows,
    visits,
    with_panes,
)
from tests.spark.stored_job import entered


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_clone_from_a_savepoint_goes_on_as_the_job_it_was_saved_of(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    program = with_panes(chained())
    jobs, clock = Jobs(spark, home, tmp_path / "job"), FileClock(tmp_path / "clock")
    clock.set(100_000)
    append(log, rows(30))
    arm(home, "after decide")
    with pytest.raises(RunError, match="fault"):
        jobs.start(program, clock=clock, until="caught up", parts=FAULTY).await_end()
    point = save(home, jobs.checkpoint, tmp_path / "points" / "one", session=spark)
    assert sum(point.start.offset.positions.values()) == 30
    before = {sink.topic: _written(log, sink.topic) for sink in program.sinks}
    clock.set(107_000)
    append(log, rows(30, first=30))
    # The clone has three tasks, and topics of its own; it is rescaled before it has run.
    clone = renamed(program, "-clone")
    other = Jobs(spark, home, tmp_path / "clone", Settings(parallelism=3))
    done = restore(
        point.folder,
        other.checkpoint,
        home=home,
        physical=plan(clone, other.settings),
        session=spark,
    )
    assert (done.states.empty, done.states.dropped) == ((), ())
    assert rescale(home, other.checkpoint, 1).states > 0
    other = other.with_settings(parallelism=1)
    jobs.start(program, clock=clock, until="caught up").await_end()
    query = other.start(clone, clock=clock, until="caught up")
    query.await_end()
    for topic, first in before.items():
        assert _written(log, f"{topic}-clone") == _written(log, topic) - first
    assert _written(log, "panes-clone").total() > 0
    progress = query.progress
    assert progress is not None
    assert {a.operator: a.taken for a in progress.accounts}["scan-visits"] == 60


def _written(log: EmbeddedLog, topic: str) -> Counter[str]:
    return Counter(map(str, stored_rows(log, topic)))


def test_a_savepoint_is_complete_or_absent_and_says_when_it_is_damaged(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(10))
    entered(home, tmp_path / "job")
    point = save(home, tmp_path / "job", tmp_path / "points" / "one")
    assert [item.folder for item in savepoints(tmp_path / "points")] == [point.folder]
    assert point.size > 0
    with pytest.raises(UsageError, match="SAVEPOINT_EXISTS"):
        save(home, tmp_path / "job", point.folder)
    with pytest.raises(StateError, match="CHECKPOINT_MISSING"):
        save(home, tmp_path / "none", tmp_path / "points" / "two")
    assert [path.name for path in (tmp_path / "points").iterdir()] == ["one"]
    with pytest.raises(StateError, match="SAVEPOINT_MISSING"):
        restore(tmp_path / "points", tmp_path / "new", home=home)
    for name in point.files:
        path = point.folder / name
        whole = path.read_bytes()
        for wrong in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 4]), None):
            path.unlink()
            if wrong is not None:
                path.write_bytes(wrong)
            with pytest.raises(StateError, match="SAVEPOINT_DAMAGED"):
                restore(point.folder, tmp_path / "new", home=home)
        path.write_bytes(whole)
    assert not (tmp_path / "new").exists()


def test_a_savepoint_that_says_something_else_or_is_of_a_later_release_is_refused(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(10))
    entered(home, tmp_path / "job")
    point = save(home, tmp_path / "job", tmp_path / "point")
    manifest = point.folder / "savepoint.json"
    good = manifest.read_text()
    said = json.loads(good)
    said.pop("crc32c")
    manifest.write_text(good.replace('"parallelism": 2', '"parallelism": 3'))
    with pytest.raises(StateError, match="JOB_FILE_BROKEN"):
        read_savepoint(point.folder)
    write_json(manifest, {**said, "layout": 2})
    with pytest.raises(StateError, match="SAVEPOINT_LATER"):
        read_savepoint(point.folder)


def test_savepoints_beyond_a_number_are_removed_the_oldest_first(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(10))
    entered(home, tmp_path / "job")
    for name in ("b", "a", "c"):
        save(home, tmp_path / "job", tmp_path / "points" / name)
    assert [path.name for path in keep_savepoints(tmp_path / "points", 2)] == ["b"]
    assert keep_savepoints(tmp_path / "points", 2) == []
    assert len(savepoints(tmp_path / "points")) == 2


def test_states_go_to_the_operators_that_are_named_or_have_their_id_and_kind(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(10))
    entered(home, tmp_path / "job")
    point = save(home, tmp_path / "job", tmp_path / "point")
    (only,) = point.forms
    two = plan(Plan("two", (Sink(by_page(visits(), 20), "other"), Sink(by_page(visits()), "same"))))
    first, second = (keyed.id for keyed in two.operators)
    assert only == first

    def tried(**more: Any) -> Any:  # noqa: ANN401
        return restore(point.folder, tmp_path / "new", home=home, physical=two, **more).states

    with pytest.raises(StateError, match="OPERATOR_EMPTY"):
        tried()
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM"):
        tried(empty_ok=True)  # its window is another
    with pytest.raises(UsageError, match="OPERATOR_MISSING"):
        tried(operators={second: "aggregat-1"})
    with pytest.raises(UsageError, match="OPERATOR_TAKEN"):
        tried(operators={second: only, first: only})
    with pytest.raises(UsageError, match="PARALLELISM"):
        tried(operators={second: only, first: None}, parallelism=0)
    mapped = tried(operators={second: only, first: None})
    assert (mapped.goes_on, mapped.empty, mapped.dropped) == ({second: only}, (first,), ())
    mapped = tried(operators={second: None, first: None})
    assert (mapped.goes_on, mapped.dropped) == ({}, (only,))


def test_a_savepoint_whose_records_are_gone_or_of_another_topic_is_refused(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(10))
    entered(home, tmp_path / "job")
    point = save(home, tmp_path / "job", tmp_path / "point")
    far = replace(point.start.offset, positions=dict.fromkeys(point.start.offset.positions, 99))
    said = json.loads((point.folder / "savepoint.json").read_text())
    said.pop("crc32c")
    said["start"] = {"offset": far.to_json(), "left": None}
    copied = tmp_path / "copied"
    shutil.copytree(point.folder, copied)
    write_json(copied / "savepoint.json", said)
    with pytest.raises(OffsetError, match="OFFSET_EXPIRED"):
        restore(copied, tmp_path / "new", home=home)
    log.delete_topic("visits")
    append(log, rows(10))
    with pytest.raises(PenstockError, match="TOPIC_REPLACED"):
        restore(point.folder, tmp_path / "new", home=home)
