from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from tests.conformance.ksql import main, run_cases, table
from tests.conformance.ksql_answer import Answer, wrong_answers
from tests.conformance.ksql_case import CASES, Case, read_cases

ABSENT = pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
EACH = 8
"""Every so many cases of a family one is run: a stratified sample."""
FLOORS: Mapping[str, int] = {
    "aggregate (stream source)": 14,
    "aggregate (table source)": 3,
    "error": 22,
    "insert values (rest)": 3,
    "join foreign-key": 2,
    "join n-way": 3,
    "join stream-stream": 6,
    "join stream-table": 2,
    "join table-table": 2,
    "partition by": 5,
    "pull query": 12,
    "push query": 4,
    "query upgrade / assert script": 3,
    "stateless: lambda": 2,
    "stateless: project/filter/expr": 20,
    "stateless: scalar function": 18,
    "stateless: struct/array/map": 8,
    "table function (EXPLODE)": 2,
    "window session": 2,
    "window tumbling": 2,
}
"""How many of the sample are known to pass."""


def _sample() -> Iterable[Case]:
    seen: dict[tuple[str, str], int] = {}
    for case in read_cases(CASES):
        seen[case.entry] = seen.get(case.entry, -1) + 1
        if seen[case.entry] % EACH == 0:
            yield case


@ABSENT
@pytest.mark.slow
def test_a_sample_of_every_family_passes_as_it_did() -> None:
    report, reasons = run_cases(_sample())
    short = {
        family: reasons
        for family, least in FLOORS.items()
        if report["families"][family]["passed"] < least
    }
    assert short == {}


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


@ABSENT
@pytest.mark.spark
@pytest.mark.parametrize("family", ["stateless: project/filter/expr", "aggregate (stream source)"])
def test_a_case_passes_on_spark(family: str) -> None:
    case = next(case for case in read_cases(CASES) if case.entry == ("families", family))
    _, reasons = run_cases([case], "spark")
    assert reasons == {}
