"""A few facts on Spark; `python -m tests.conformance.windows FILE --engine spark` tries all."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.conformance import dataflow_model, windows
from tests.conformance.runner import SHARED, Case, Check, load_cases, run_case

pytestmark = pytest.mark.spark

MODEL = {
    "dataflow_model/derived/ex4-3-retracting",
    "dataflow_model/beam-teststream/discarding-mode",
}
WINDOWS = {
    "windows/flink-op/drop-due-to-lateness-session-with-lateness-purging-trigger",
    "windows/count/tumbling-3",
}
ABSENT = pytest.param(None, None, marks=pytest.mark.skip(reason="the shared facts are not here"))


def _chosen(name: str, ids: set[str], checks: Mapping[str, Check]) -> list[object]:
    facts = SHARED / f"{name}.json"
    cases = load_cases(facts) if facts.exists() else []
    return [pytest.param(case, checks, id=case.id) for case in cases if case.id in ids]


CASES = [
    *_chosen("dataflow_model", MODEL, dataflow_model.checks("spark")),
    *_chosen("windows", WINDOWS, windows.checks("spark")),
]


@pytest.mark.parametrize(("case", "checks"), CASES or [ABSENT])
def test_a_fact_holds_on_spark(case: Case, checks: Mapping[str, Check]) -> None:
    assert run_case(case, checks).failure is None
