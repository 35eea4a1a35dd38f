"""However the rows of a program come, and wherever it dies, it gives the same final tables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Function, Measure
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Mode, Refinement
from penstock.testing.driver import TestDriver
from penstock.testing.strategies import Batch, Delivery, crashes, disordered_rows, partitionings
from tests.properties.chains import (
    DISORDER,
    NAMES,
    WINDOWS,
    Oracle,
    Row,
    Step,
    a_stream,
    chains,
    ordered,
    plan_of,
)

pytestmark = pytest.mark.slow

ORACLE = Oracle()
COLUMNS = {
    "k": st.one_of(st.integers(0, 4), st.none()),
    "g": st.integers(0, 2),
    "n": st.one_of(st.integers(-9, 9), st.none()),
}
ROWS = st.one_of(
    disordered_rows(COLUMNS, disorder=DISORDER, step=2_500, max_rows=5),
    disordered_rows(COLUMNS, disorder=DISORDER, step=2_500, min_rows=6, max_rows=18),
)
SETTINGS = st.builds(Settings, buckets=st.sampled_from([1, 2, 5]), preaggregate=st.booleans())
CALM = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


def run(plan: Plan, delivery: Delivery, data: st.DataObject, *, crash: bool = True) -> TestDriver:
    """Deliver rows to a program with settings, pauses and a crash of chance, to their end."""
    driver = TestDriver(plan, settings=data.draw(SETTINGS), clock=0)
    batches = list(delivery.to("in"))
    point = data.draw(st.none() | crashes(driver.steps, len(batches) + 1)) if crash else None
    pause = data.draw(st.sampled_from([0, 700, 2_000]))
    for number, batch in enumerate([*batches, None]):
        if point is not None and point.action == number:
            driver.crash_after(point.step)
        if batch is None:
            driver.finish()
        else:
            driver.push_together(batch)
            driver.advance_clock(by=pause)
    return driver


def table(driver: TestDriver) -> list[tuple[Any, ...]]:
    return ordered([tuple(row[name] for name in NAMES) for row in driver.table("out")])


def check_against_the_oracle(step: Step, rows: list[Row], data: st.DataObject) -> None:
    delivery = data.draw(partitionings(rows, partitions=2, max_batches=4))
    driver = run(plan_of(step), delivery, data)
    assert driver.late("out") == []
    assert driver.dead_letters("out") == []
    assert table(driver) == ORACLE.answer(step, rows), step.sql


@given(chains(), ROWS, st.data())
@settings(max_examples=40, suppress_health_check=CALM)
def test_the_folded_changelog_is_the_answer_of_a_batch(
    step: Step, rows: list[Row], data: st.DataObject
) -> None:
    check_against_the_oracle(step, rows, data)


@pytest.mark.slow
@pytest.mark.timeout(600)
@given(chains(), ROWS, st.data())
@settings(max_examples=500, suppress_health_check=CALM)
def test_500_random_programs_give_the_answer_of_a_batch(
    step: Step, rows: list[Row], data: st.DataObject
) -> None:
    check_against_the_oracle(step, rows, data)


@pytest.mark.soak
@given(chains(longest=5), ROWS, st.data())
@settings(max_examples=20_000, suppress_health_check=CALM)
def test_20000_random_programs_give_the_answer_of_a_batch(
    step: Step, rows: list[Row], data: st.DataObject
) -> None:
    check_against_the_oracle(step, rows, data)


@given(chains(changelog=True, longest=2), ROWS, st.data())
@settings(max_examples=30, suppress_health_check=CALM)
def test_what_is_taken_back_leaves_nothing_behind(
    step: Step, rows: list[Row], data: st.DataObject
) -> None:
    driver = TestDriver(plan_of(step), settings=data.draw(SETTINGS), watermarks="manual")
    for weight in (1, -1):
        delivery = data.draw(partitionings(rows, partitions=2, max_batches=3))
        weighed = [
            {place: [{**row, "_weight": weight} for row in part] for place, part in batch.items()}
            for batch in delivery.to("in")
        ]
        for batch in weighed:
            driver.push_together(batch)
    driver.finish()
    assert driver.table("out") == []
    held = {
        keyed.id: {name: t.height for name, t in driver.state(keyed.id).items() if t.height}
        for keyed in driver.physical.operators
    }
    assert {name: tables for name, tables in held.items() if tables} == {}


@given(
    st.sampled_from(WINDOWS),
    st.sampled_from(["sum", "max", "count", "collect_set", "approx_count_distinct", "avg"]),
    st.sampled_from(["accumulating", "discarding", "retracting"]),
    st.data(),
)
@settings(max_examples=30, suppress_health_check=CALM)
def test_another_delivery_gives_the_same_rows_on_time(
    make: Any,  # noqa: ANN401
    function: Function,
    mode: Mode,
    data: st.DataObject,
) -> None:
    window, _ = make("")
    measure = Measure("n", function, (Column("n"),))
    aggregate = Aggregate(a_stream(), ("k",), (measure,), window, refinement=Refinement(mode))
    plan = Plan("p", (Sink(aggregate, "out"),))
    rows = data.draw(ROWS)
    found = []
    for _ in range(2):
        delivery = data.draw(partitionings(rows, partitions=3, max_batches=4))
        written = run(plan, delivery, data).rows("out")
        found.append(sorted(repr(comparable(row)) for row in written))
    assert found[0] == found[1]


MEASURES = (
    Measure("count", "count"),
    Measure("avg", "avg", (Column("n"),)),
    Measure("min", "min", (Column("n"),)),
    Measure("max", "max", (Column("n"),)),
    Measure("first", "first", (Column("g"),), (("by", "time"),)),
    Measure("last", "last", (Column("g"),), (("by", "time"),)),
    Measure("list", "collect_list", (Column("n"),)),
    Measure("set", "collect_set", (Column("n"),)),
    Measure("distinct", "count_distinct", (Column("n"),)),
    Measure("about", "approx_count_distinct", (Column("n"),)),
    Measure("top", "top_k", (Column("n"),), (("k", 2),)),
    Measure("top_distinct", "top_k_distinct", (Column("n"),), (("k", 2),)),
    Measure("median", "quantile", (Column("n"),), (("q", 0.5),)),
    Measure("variance", "variance", (Column("n"),)),
    Measure("stddev", "stddev", (Column("n"),)),
    Measure("bins", "histogram", (Column("n"),), (("bins", 3), ("low", -9.0), ("high", 9.0))),
)


@given(ROWS, st.sampled_from([("k",), ("g",), ()]), st.data())
@settings(max_examples=15, suppress_health_check=CALM)
def test_an_aggregate_forgets_what_was_taken_back(
    rows: list[Row], keys: tuple[str, ...], data: st.DataObject
) -> None:
    # Of rows at the same time none is the first.
    rows = [{**row, "at": row["at"] * 100 + number} for number, row in enumerate(rows)]
    taken_back = [row for row in rows if data.draw(st.booleans())]
    changes = [{**row, "_weight": 1} for row in rows]
    for row in taken_back:
        least = rows.index(row) + 1
        place = data.draw(st.integers(least, len(changes)))
        while {**row, "_weight": 1} in changes[place:]:
            place += 1
        changes.insert(place, {**row, "_weight": -1})
    aggregate = Aggregate(
        a_stream(changelog=True), keys, MEASURES, refinement=Refinement("retracting")
    )
    plan = Plan("p", (Sink(aggregate, "out"),))
    remaining = [{**row, "_weight": 1} for row in rows if row not in taken_back]
    whole = Delivery((Batch({0: remaining}),))
    parts = data.draw(partitionings(changes, partitions=1, max_batches=4))
    results = []
    for delivery in (whole, parts):
        driver = run(plan, delivery, data)
        results.append(sorted(repr(comparable(row)) for row in driver.table("out")))
    assert results[0] == results[1]


def comparable(row: Row) -> list[tuple[str, Any]]:
    """A row in which the order of a set and the last digits of a number do not count."""
    return sorted((name, _comparable(value)) for name, value in row.items())


def _comparable(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return sorted(value, key=repr)
    return round(value, 9) + 0.0 if isinstance(value, float) else value
