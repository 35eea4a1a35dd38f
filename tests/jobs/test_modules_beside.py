"""The modules beside a program are part of it: of its fingerprint, and of what is stored."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import JobError
from penstock.jobs.submit import submit
from penstock.model.physical import Physical
from penstock.model.stateless import Apply
from penstock.plan import user_code
from penstock.plan.fingerprint import fingerprint
from penstock.project.program_file import load_program
from penstock.spark.stored_program import program_bytes, program_of

PROGRAM = """
import penstock as ps
from prices_beside import rated

FACTOR = 2

def priced(row):
    return {"price": FACTOR * rated(row["v"])}

app = ps.App("priced")
app.stream("events", schema={"v": "bigint"}).map(priced, schema={"price": "bigint"}).to("prices")
"""
BESIDE = """
RATE = 10

def rated(value):
    return RATE * value
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(user_code, "_own_places", set())
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Two texts of one second and one length would have one compiled file.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    sys.modules.pop("prices_beside", None)


def planned(folder: Path, program: str = PROGRAM, beside: str = BESIDE) -> Physical:
    """The program of files as they are now, loaded as by a new process."""
    for name, text in (("prices.py", program), ("prices_beside.py", beside)):
        (folder / name).write_text(text)
    sys.modules.pop("prices_beside", None)
    importlib.invalidate_caches()
    return load_program(f"{folder / 'prices.py'}:app").physical()


def test_what_a_function_uses_of_its_file_and_of_those_beside_it_counts(folder: Path) -> None:
    first = fingerprint(planned(folder))
    assert fingerprint(planned(folder)) == first
    others = (
        planned(folder, PROGRAM.replace("FACTOR = 2", "FACTOR = 3")),
        planned(folder, PROGRAM, BESIDE.replace("RATE = 10", "RATE = 11")),
        planned(folder, PROGRAM, BESIDE.replace("RATE * value", "RATE + value")),
    )
    assert len({first, *map(fingerprint, others)}) == 4
    assert fingerprint(planned(folder, PROGRAM, f"{BESIDE}\nUNUSED = 1\n")) == first


def test_a_stored_program_is_what_it_was_when_a_file_beside_it_changes(folder: Path) -> None:
    stored = program_bytes(planned(folder))
    planned(folder, PROGRAM, BESIDE.replace("RATE = 10", "RATE = 11"))
    step = program_of(stored).outputs[0].sink.relation
    assert isinstance(step, Apply)
    function: Any = step.function
    assert function({"v": 3}) == {"price": 60}


def test_a_program_whose_file_beside_it_changed_is_not_the_job_that_was_submitted(
    folder: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert submit(home, planned(folder)).outcome == "new"
    assert submit(home, planned(folder)).outcome == "unchanged"
    with pytest.raises(JobError, match="JOB_CHANGED"):
        submit(home, planned(folder, PROGRAM, BESIDE.replace("RATE = 10", "RATE = 11")))
