from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import UsageError
from penstock.model.plan import Plan
from penstock.testing.inline import inline_plan
from penstock.testing.stage import Stage
from penstock.testing.transcript import load_transcript, open_driver, run_transcript

PROGRAM = """
program:
  streams:
    numbers: {columns: {n: int64, at: timestamp}, event_time: at}
  outputs:
    totals:
      from: numbers
      group_by: []
      window: {tumbling: 1m}
      measures: {total: sum(n)}
"""


def transcript(folder: Path, steps: str, program: str = PROGRAM) -> Path:
    file = folder / "t.transcript.yaml"
    file.write_text(f"{program}\nsteps:\n{steps}\n")
    return file


def refusal(file: Path) -> str:
    with pytest.raises(UsageError) as caught:
        run_transcript(load_transcript(file))
    return f"{caught.value}"


def test_a_step_that_differs_is_told_with_its_line_and_both_sides(tmp_path: Path) -> None:
    steps = "- input: [{n: 1, at: 5s}]\n- finish\n- expect: [{total: 2}]"
    with pytest.raises(AssertionError) as caught:
        run_transcript(load_transcript(transcript(tmp_path, steps)))
    first, missing, also = str(caught.value).splitlines()
    assert first == "t.transcript.yaml:15: not as expected"
    assert "missing   {_weight: 1, total: 2}" in missing
    assert "total: 1" in also


def test_times_are_written_in_many_ways(tmp_path: Path) -> None:
    steps = """
- input: [{n: 1, at: 0:00:59}, {n: 2, at: 1970-01-01T00:00:10}, {n: 3, at: 7}]
- watermark: {numbers: 1m}
- expect: [{total: 6, window_end: 60s, _time: 59999}]
- clock: +5s
- clock: 1970-01-01T00:00:06Z
"""
    run_transcript(load_transcript(transcript(tmp_path, steps)))


def test_the_same_steps_can_be_done_on_another_stage(tmp_path: Path) -> None:
    opened: list[Stage] = []

    def open_stage(program: Plan, settings: Mapping[str, Any]) -> Stage:
        opened.append(open_driver(program, settings))
        return opened[0]

    file = transcript(tmp_path, "- input: [{n: 1, at: 1}]\n- finish\n- expect: [{total: 1}]")
    run_transcript(load_transcript(file), open_stage)
    assert opened


def test_the_program_may_be_one_that_python_imports(tmp_path: Path) -> None:
    program = "program: tests.testing.test_transcript:a_plan"
    steps = "- input: [{n: 1, at: 1}]\n- finish\n- expect: [{total: 1}]"
    run_transcript(load_transcript(transcript(tmp_path, steps, program)))


def a_plan() -> Plan:
    streams = {"numbers": {"columns": {"n": "int64", "at": "timestamp"}, "event_time": "at"}}
    total = {"from": "numbers", "window": "global", "measures": {"total": "sum(n)"}}
    return inline_plan("p", {"streams": streams, "outputs": {"totals": total}}, "here")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("program: no.such.module:app", "TRANSCRIPT_PROGRAM"),
        ("program: penstock.testing.stage:none", "TRANSCRIPT_PROGRAM"),
        ("program: {streams: {}}", '"outputs" is missing'),
        (PROGRAM.replace("from: numbers", "from: number"), 'Did you mean "numbers"?'),
        (PROGRAM.replace("tumbling", "tumblin"), 'Did you mean "tumbling"?'),
        (PROGRAM.replace("sum(n)", "summ(n)"), "TRANSCRIPT_PROGRAM"),
        (PROGRAM + "      trigger: eachrow\n", 'Did you mean "each_row"?'),
        (PROGRAM + "      trigger: {each_row: 1, never: 2}\n", "should have one name"),
    ],
)
def test_a_program_that_cannot_be_made_is_refused(tmp_path: Path, program: str, code: str) -> None:
    assert code in refusal(transcript(tmp_path, "- finish", program))


@pytest.mark.parametrize(
    ("steps", "fact"),
    [
        ("- inptu: []", 'Did you mean "input"?'),
        ("- {input: [], expect: []}", "a step has one name"),
        ("- {expect: [], at: 5}", 'step "expect" does not take at'),
        ("- expect: 5", "neither rows nor topics"),
        ("  a: 1", "the steps are not a list"),
        ("- {", "is not YAML"),
        ("- expect: [{totl: 1}]", 'Did you mean "total"?'),
    ],
)
def test_steps_that_cannot_be_understood_are_refused(tmp_path: Path, steps: str, fact: str) -> None:
    found = refusal(transcript(tmp_path, steps))
    assert fact in found
    assert "TRANSCRIPT_" in found


def test_a_result_without_such_a_column_is_refused_by_code(tmp_path: Path) -> None:
    assert "TRANSCRIPT_COLUMN" in refusal(transcript(tmp_path, "- expect: [{no_such: 1}]"))


def test_a_file_without_steps_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[]")
    assert "TRANSCRIPT_FORMAT" in refusal(tmp_path / "a.yaml")
