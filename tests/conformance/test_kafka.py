from __future__ import annotations

import pytest

from tests.conformance.kafka import CHECKS
from tests.conformance.runner import SHARED, Case, load_cases, run_case

FACTS = SHARED / "kafka.json"
ABSENT = pytest.param(None, marks=pytest.mark.skip(reason="the shared facts are not here"))
CASES = [pytest.param(case, id=case.id) for case in load_cases(FACTS)] if FACTS.exists() else []


@pytest.mark.parametrize("case", CASES or [ABSENT])
def test_a_fact_about_kafka_holds(case: Case) -> None:
    outcome = run_case(case, CHECKS)
    if not case.required and case.kind not in CHECKS:
        pytest.skip("this kind only informs")
    assert outcome.failure is None
