from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.model.physical import Physical
from penstock.spark.identity import identify, read_identity
from penstock.spark.job_files import JobFiles


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


def test_what_is_remembered_is_noted_with_the_checkpoint(tmp_path: Path) -> None:
    first = identify(JobFiles(tmp_path), program(**EVERYTHING))
    assert identify(JobFiles(tmp_path), program(**EVERYTHING)) == first
    assert read_identity(JobFiles(tmp_path)) == first


def test_a_declared_change_is_taken_and_noted_for_the_next(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    first = identify(files, program(n=ps.value_state("int32")))
    changed = identify(files, program(total=ps.value_state("int64", was="n"), more=str))
    assert changed.job == first.job
    assert [form["name"] for form in changed.states["process-1"]] == ["total", "more"]
    with pytest.raises(StateError, match="STATE_CHANGE"):
        identify(files, program(total=ps.value_state("int32")))


def test_a_wrong_change_is_refused_before_the_start(tmp_path: Path) -> None:
    identify(JobFiles(tmp_path), program(n=int))
    with pytest.raises(StateError) as caught:
        identify(JobFiles(tmp_path), program(n=str))
    assert caught.value.code == "STATE_CHANGE"
    assert 'state "n" of process "count" holds value of int64' in caught.value.fact


def test_a_checkpoint_from_before_they_were_noted_goes_on(tmp_path: Path) -> None:
    files = JobFiles(tmp_path)
    identify(files, program(n=int))
    text = files.identity.read_text(encoding="utf-8")
    files.identity.write_text(text[: text.index(', "states"')] + "}", encoding="utf-8")
    assert identify(files, program(n=str)).states["process-1"][0]["name"] == "n"
