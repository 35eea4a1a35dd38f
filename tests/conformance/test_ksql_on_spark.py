"""ksqlDB's own cases on Spark, some of every family: `tests.conformance.ksql` runs all."""

from __future__ import annotations

import pytest

from tests.conformance.ksql import run_cases, sampled
from tests.conformance.ksql_case import CASES, Case, read_cases
from tests.conformance.ksql_together import may_share

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here"),
]

WITHOUT_QUERIES = ("error", "insert values (rest)")
"""Families that leave Spark nothing to do: they are refused, or only insert and ask."""
LEAST, SHARE = 1, 40


def _sample() -> list[Case]:
    return sampled(
        (
            case
            for case in read_cases(CASES)
            if case.entry[0] == "families"
            and case.entry[1] not in WITHOUT_QUERIES
            and case.tree.get("queries") != 0
        ),
        LEAST,
        SHARE,
    )


@pytest.mark.parametrize(
    ("together", "families"),
    [pytest.param(True, 18, id="in one query"), pytest.param(False, 9, id="in their own")],
)
def test_a_sample_of_every_family_passes_on_spark(*, together: bool, families: int) -> None:
    report, reasons = run_cases(
        (case for case in _sample() if may_share(case) == together), "spark"
    )
    assert reasons == {}
    assert len(report["families"]) == families
