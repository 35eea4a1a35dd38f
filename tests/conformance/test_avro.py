from __future__ import annotations

import pytest

from tests.conformance.avro import checks
from tests.conformance.runner import SHARED, Case, load_cases, run_case

FACTS = SHARED / "avro.json"
ABSENT = pytest.param(None, marks=pytest.mark.skip(reason="the shared facts are not here"))
CASES = [pytest.param(case, id=case.id) for case in load_cases(FACTS)] if FACTS.exists() else []
CHECKS = checks("driver")


@pytest.mark.parametrize("case", CASES or [ABSENT])
def test_a_fact_about_avro_holds(case: Case) -> None:
    if not case.required:
        pytest.skip("the source shows what an implementation does, which is not the ideal result")
    assert run_case(case, CHECKS).failure is None
