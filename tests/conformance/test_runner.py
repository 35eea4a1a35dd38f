from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conformance.runner import Case, Check, Engine, load_cases, run_case, run_suite, same


def a_case(identity: str, **fields: object) -> dict[str, object]:
    case = {
        "id": identity,
        "kind": "sum",
        "provenance": "published",
        "given": {"numbers": {"ref": "data.small"}},
        "expect": {"sum": 3},
    }
    return case | fields


def check_sum(case: Case) -> None:
    same(sum(case.given["numbers"]), case.expect["sum"])


def checks(_engine: Engine) -> Mapping[str, Check]:
    return {"sum": check_sum}


def a_file(directory: Path, *cases: dict[str, object]) -> Path:
    path = directory / "facts.json"
    path.write_text(json.dumps({"shared": {"data": {"small": [1, 2]}}, "cases": cases}))
    return path


def test_all_facts_that_hold_give_status_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = a_file(tmp_path, a_case("a"), a_case("b"))
    out = tmp_path / "out.json"
    assert run_suite("sums", checks, [str(facts), "--json", str(out)]) == 0
    assert json.loads(out.read_text()) == {
        "required": 2,
        "passed": 2,
        "kinds": {"sum": {"required": 2, "passed": 2, "failed": []}},
    }
    assert capsys.readouterr().out == "sum  2/2\nall  2/2\n"


def test_a_fact_that_fails_is_named_and_gives_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = a_file(tmp_path, a_case("a"), a_case("b", expect={"sum": 4}))
    out = tmp_path / "out.json"
    assert run_suite("sums", checks, [str(facts), "--json", str(out)]) == 1
    assert json.loads(out.read_text())["kinds"]["sum"]["failed"] == ["b"]
    assert "FAILED b: AssertionError: result is 3, not 4" in capsys.readouterr().out


def test_a_kind_without_a_check_is_required_and_failed(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    facts = a_file(tmp_path, a_case("a", kind="product"))
    assert run_suite("sums", checks, [str(facts), "--json", str(out)]) == 1
    assert json.loads(out.read_text())["kinds"]["product"] == {
        "required": 1,
        "passed": 0,
        "failed": ["a"],
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "varint"},
        {"kind": "record_batch_decode"},
        {"provenance": "published-nonconforming", "expect": {"sum": 4}},
    ],
)
def test_what_only_informs_is_not_counted(tmp_path: Path, fields: dict[str, object]) -> None:
    out = tmp_path / "out.json"
    facts = a_file(tmp_path, a_case("a"), a_case("b", **fields))
    assert run_suite("sums", checks, [str(facts), "--json", str(out)]) == 0
    counts = json.loads(out.read_text())
    assert (counts["required"], counts["passed"]) == (1, 1)


def test_a_check_that_breaks_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    (case,) = load_cases(a_file(tmp_path, a_case("a", expect={})))
    failure = run_case(case, checks("driver")).failure
    assert failure is not None
    assert failure.startswith("KeyError: 'sum'")
