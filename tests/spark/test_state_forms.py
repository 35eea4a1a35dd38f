from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.model.physical import Physical
from penstock.plan.state_change import StateWarning
from penstock.spark.identity import Identity, identify, keep_identity, read_identity
from penstock.spark.job_files import JobFiles
from penstock.spark.state_forms import warn_of_changes


def program(**state: Any) -> Physical:  # noqa: ANN401
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    made = views.group_by("user").process(
        lambda *_: None, schema={"n": int}, state=state, name="count"
    )
    made.to("out")
    return app.physical()


EVERYTHING = {
    "n": ps.value_state("int32"),
    "items": ps.list_state("struct<a: decimal(4, 2), b: array<string>>"),
    "names": ps.map_state("int64", "map<timestamp>"),
}


def started(files: JobFiles, physical: Physical) -> Identity:
    """Do what a start does."""
    identity = identify(files, physical).identity
    keep_identity(files, identity)
    return identity


def test_what_is_remembered_is_noted_with_the_checkpoint(tmp_path: Path) -> None:
    first = started(JobFiles(tmp_path), program(**EVERYTHING))
    assert started(JobFiles(tmp_path), program(**EVERYTHING)) == first
    found = read_identity(JobFiles(tmp_path))
    assert found == first
    (number, *_) = first.forms["process-1"]["fields"]
    assert number == {"name": "n", "version": 1, "holds": "value", "type": "int32", "key": None}


def test_a_declared_change_is_taken_and_noted_for_the_next(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    first = started(files, program(n=ps.value_state("int32")))
    changed = started(files, program(total=ps.value_state("int64", was="n"), more=str))
    assert changed.job == first.job
    (files.spark / "commits").mkdir(parents=True)
    (files.spark / "commits" / "0").touch()
    assert [form["name"] for form in changed.forms["process-1"]["fields"]] == ["total", "more"]
    with pytest.raises(StateError, match="STATE_CHANGE"):
        identify(files, program(total=ps.value_state("int32")))


def test_a_wrong_change_is_refused_before_the_start(tmp_path: Path) -> None:
    started(JobFiles(tmp_path), program(n=int))
    with pytest.raises(StateError) as caught:
        identify(JobFiles(tmp_path), program(n=str))
    assert caught.value.code == "STATE_CHANGE"
    assert 'state "n" of process "count" holds value of int64' in caught.value.fact


def test_what_a_change_may_not_mean_is_warned_of(tmp_path: Path) -> None:
    started(JobFiles(tmp_path), program(n=int))
    found = identify(JobFiles(tmp_path), program(m=int))
    with pytest.warns(StateWarning, match='if it was renamed, say was="n"'):
        warn_of_changes(found.warnings)


def test_a_checkpoint_from_before_they_were_noted_goes_on(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    started(files, program(n=int))
    found = json.loads(files.identity.read_text(encoding="utf-8"))
    kept = {name: found[name] for name in ("job", "buckets", "parallelism", "operators", "levels")}
    files.identity.write_text(json.dumps(kept), encoding="utf-8")
    fields = started(files, program(n=str)).forms["process-1"]["fields"]
    assert fields[0]["type"] == "string"
    files.identity.write_text(json.dumps(kept), encoding="utf-8")
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "at": "int64"}, event_time="at")
    views.dedup("user").to("out")
    with pytest.raises(StateError, match="CHECKPOINT_PROGRAM"):
        identify(files, app.physical())
