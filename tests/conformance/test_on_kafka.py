"""A few facts on Spark whose log is Kafka: the same as in the driver and on the embedded log."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock.testing.spark_stage
import tests.conformance.engine_spark
import tests.conformance.ksql_spark
from penstock.log.open import open_log
from tests.conformance import joins, windows
from tests.conformance.ksql import run_cases, sampled
from tests.conformance.ksql_case import CASES, read_cases
from tests.conformance.ksql_together import may_share
from tests.conformance.runner import SHARED, load_cases, run_case
from tests.kafka.emptied import EmptiedBroker

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.exists(), reason="the shared facts are not here"),
]

WINDOWS = ("windows/count/tumbling-3", "windows/flink-op/drop-due-to-lateness-tumbling")
JOINS = (
    "joins/stream-stream/inner-repartitioned",
    "joins/stream-table/left",
    "joins/table-table/doc-left",
)


@pytest.fixture(autouse=True)
def _on_kafka(own_broker: EmptiedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runs of cases have an empty broker each as their log."""

    def on_kafka(home: Path) -> object:
        own_broker.empty()
        return open_log(own_broker.bind(home))

    for runs in (
        penstock.testing.spark_stage,
        tests.conformance.engine_spark,
        tests.conformance.ksql_spark,
    ):
        monkeypatch.setattr(runs, "open_log", on_kafka)


def test_windows_are_those_of_the_driver() -> None:
    checks = windows.checks("spark")
    cases = [case for case in load_cases(SHARED / "windows.json") if case.id in WINDOWS]
    assert cases
    assert [run_case(case, checks).failure for case in cases] == [None] * len(cases)


def test_joins_are_those_of_the_driver() -> None:
    checks = joins.checks("spark")
    cases = [case for case in load_cases(SHARED / "joins.json") if case.id in JOINS]
    assert [run_case(case, checks).failure for case in cases] == [None] * len(JOINS)


def test_statements_of_ksql_are_those_of_the_driver() -> None:
    if not CASES.exists():
        pytest.skip("the shared cases are not here")
    chosen = [
        case
        for case in sampled(
            (case for case in read_cases(CASES) if case.entry[0] == "families"), 1, 40
        )
        if may_share(case) and case.tree.get("queries") != 0
    ][:4]
    _, reasons = run_cases(chosen, "spark")
    assert reasons == {}
