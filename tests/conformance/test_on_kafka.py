"""Facts on Spark whose log is Kafka: the same as in the driver and on the embedded log."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

import pytest
from typing_extensions import override

import penstock.testing.spark_stage
import tests.conformance.engine_spark
import tests.conformance.ksql_spark
from penstock.log.open import open_log
from tests.conformance import joins, windows
from tests.conformance.ksql import run_cases, sampled
from tests.conformance.ksql_case import CASES, Case, read_cases
from tests.conformance.ksql_together import may_share
from tests.conformance.runner import SHARED, Check, load_cases, run_case
from tests.kafka.emptied import EmptiedBroker

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.exists(), reason="the shared facts are not here"),
]

WINDOWS = (
    "windows/beam/session-merging-out-of-order",
    "windows/beam/sliding-equal-size",
    "windows/count/tumbling-3",
    "windows/flink-evict/time-evictor-evict-after",
    "windows/flink-op/drop-due-to-lateness-tumbling",
    "windows/flink-op/processing-time-session-windows",
    "windows/spark/tumbling-negative-offset",
    "windows/spl/sliding-delta2-count5",
)
"""Of each kind one: sessions, sliding, counts, evictors, late rows, the clock, offsets, deltas."""
JOINS = (
    "joins/foreign-key/delete-nonexisting-left",
    "joins/foreign-key/from-left-left",
    "joins/stream-stream/inner-repartitioned",
    "joins/stream-stream/unit-outer-test-grace-period",
    "joins/stream-table/left",
    "joins/table-table/doc-left",
)
STATEMENTS = 10


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


def failures(facts: str, checks: Mapping[str, Check], chosen: Container[str]) -> dict[str, str]:
    """Why cases fail on Kafka that do."""
    cases = [case for case in load_cases(SHARED / facts) if case.id in chosen]
    assert cases
    found = {case.id: run_case(case, checks).failure for case in cases}
    return {name: reason for name, reason in found.items() if reason is not None}


def statements(most: int | None) -> list[Case]:
    """Cases of ksqlDB that can be run side by side: what a program costs most is its start."""
    if not CASES.exists():
        pytest.skip("the shared cases are not here")
    families = (case for case in read_cases(CASES) if case.entry[0] == "families")
    wanted = sampled(families, 1, 40) if most is not None else families
    return [case for case in wanted if may_share(case) and case.tree.get("queries") != 0][:most]


def test_windows_are_those_of_the_driver() -> None:
    assert failures("windows.json", windows.checks("spark"), WINDOWS) == {}


def test_joins_are_those_of_the_driver() -> None:
    assert failures("joins.json", joins.checks("spark"), JOINS) == {}


def test_statements_of_ksql_are_those_of_the_driver() -> None:
    chosen = statements(STATEMENTS)
    assert len(chosen) == STATEMENTS
    _, reasons = run_cases(chosen, "spark")
    assert reasons == {}


class _Every(Container[str]):
    @override
    def __contains__(self, name: object) -> bool:
        return True


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_all_windows_joins_and_statements_are_those_of_the_driver() -> None:
    assert failures("windows.json", windows.checks("spark"), _Every()) == {}
    assert failures("joins.json", joins.checks("spark"), _Every()) == {}
    _, reasons = run_cases(statements(None), "spark")
    assert reasons == {}
