from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from tests.conformance.ksql import main, run_cases, sampled, table
from tests.conformance.ksql_answer import Answer, wrong_answers
from tests.conformance.ksql_case import CASES, Case, read_cases

FAMILIES = 28
ABSENT = pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
LEAST, SHARE = 2, 20
"""Of every family two cases are run, or one of twenty; the command runs all."""
SPARED = {"error": 2}
"""How many of the sample are known not to pass."""


@ABSENT
@pytest.mark.slow
def test_a_sample_of_every_family_passes() -> None:
    report, reasons = run_cases(sampled(_required(), LEAST, SHARE))
    assert len(report["families"]) == FAMILIES
    assert {
        family: reasons
        for family, entry in report["families"].items()
        if entry["passed"] < entry["required"] - SPARED.get(family, 0)
    } == {}


def _required() -> list[Case]:
    return [case for case in read_cases(CASES) if case.entry[0] == "families"]


@ABSENT
@pytest.mark.slow
def test_the_command_prints_and_writes_counts_by_family(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tmp_path / "out.json"
    assert main([str(CASES), "--family", "insert into", "--json", str(found)]) == 0
    assert "insert into" in capsys.readouterr().out
    assert '"families"' in found.read_text()


def test_an_answer_is_compared_by_schema_and_rows() -> None:
    case = {
        "responses": [
            {"admin": {}},
            {"query": [{"header": {"schema": "`A` INTEGER"}}, {"row": {"columns": [Decimal(1)]}}]},
        ]
    }
    assert list(wrong_answers(case, [Answer("`A` INTEGER", [[1]], [False])])) == []
    assert len(list(wrong_answers(case, [Answer("`A` BIGINT", [[2]], [False])]))) == 2
    assert len(list(wrong_answers(case, []))) == 1


def test_quirks_and_limits_count_apart() -> None:
    tree = {"id": "a", "family": "f", "expected_error": None}
    assert Case(tree).entry == ("families", "f")
    assert Case({**tree, "quirk": "q"}).entry == ("quirk", "f")
    assert Case({**tree, "expected_error": {}, "error_class": "limit"}).entry == ("limit", "f")
    wrong = {**tree, "expected_error": {"message": "m"}, "error_class": "name"}
    assert Case(wrong).entry == ("families", "error")
    report = {"families": {"f": {"required": 2, "passed": 1}}, "quirk": {}, "limit": {}}
    assert table(report).splitlines()[-1].split() == ["all", "families", "1", "of", "2"]


def test_a_sample_takes_of_every_family_and_does_not_depend_on_others() -> None:
    cases = [
        Case({"id": f"{family}{number}", "family": family, "expected_error": None})
        for family in "ab"
        for number in range(40)
    ]
    chosen = [case.id for case in sampled(cases, 2, 10)]
    assert Counter(id_[0] for id_ in chosen) == {"a": 4, "b": 4}
    assert [case.id for case in sampled(cases[:40], 2, 10)] == chosen[:4]
    assert [case.id for case in sampled(cases[:40], 2, 10, seed=1)] != chosen[:4]
    assert len(sampled(cases, 50)) == 80
