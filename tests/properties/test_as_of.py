"""However a stream and a table come, a stream meets the versions that a brute force finds."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.model.expr import Call, Column, Literal
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter
from penstock.model.versions import Versions
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from penstock.testing.driver import TestDriver
from penstock.testing.strategies import crashes, disordered_rows, partitionings

pytestmark = pytest.mark.slow

DISORDER = 30
LEFT = Schema(tuple(Field(name, INT64) for name in ("k", "n", "at")))
RIGHT = Schema(tuple(Field(name, INT64) for name in ("k", "v", "at")))
HOWS: list[How] = ["inner", "left", "semi", "anti"]
CALM = (HealthCheck.too_slow, HealthCheck.data_too_large)
BOUNDS = [
    AsOf("event time", wait=True),
    AsOf("event time", corrected=True),
    AsOf("event time", wait=True, corrected=True),
]
Row = dict[str, Any]


def orders(*, changelog: bool = False) -> Stream:
    delay = BoundedDisorder(timedelta(milliseconds=DISORDER), idle=None)
    return Stream("orders", LEFT, "at", delay, changelog=changelog)


def rates(*, filtered: bool = False) -> Relation:
    """A table of rates; filtered, those that are odd are not in it."""
    delay = BoundedDisorder(timedelta(milliseconds=DISORDER), idle=None)
    table = Latest(Stream("rates", RIGHT, "at", delay, key=("k",)), ("k",), "event time")
    if not filtered:
        return table
    return Filter(table, Call("eq", (Call("mod", (Column("v"), Literal(2))), Literal(0))))


@st.composite
def histories(draw: st.DrawFn) -> list[Row]:
    """Rates of a few keys out of order, some of them deletions, no two of a key at one time."""
    weights = st.sampled_from([1, 1, -1])
    columns = {"k": st.integers(0, 2), "v": st.integers(0, 9), "_weight": weights}
    rows = draw(disordered_rows(columns, disorder=DISORDER, step=25, max_rows=12))
    return list({(row["k"], row["at"]): row for row in rows}.values())


def order_rows() -> st.SearchStrategy[list[Row]]:
    columns = {"k": st.one_of(st.integers(0, 2), st.none()), "n": st.integers(0, 3)}
    return disordered_rows(columns, disorder=DISORDER, step=25, max_rows=12)


def valid(rows: list[Row], key: int | None, at: int, *, filtered: bool) -> int | None:
    """Find what a key had at a time by looking at all of its history."""
    known = [row for row in rows if row["k"] == key and row["at"] <= at and key is not None]
    last = max(known, key=lambda row: row["at"], default=None)
    if last is None or last["_weight"] < 0:
        return None
    return None if filtered and last["v"] % 2 else last["v"]


def answer(left: list[Row], right: list[Row], how: How, *, filtered: bool) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in left:
        value = valid(right, row["k"], row["at"], filtered=filtered)
        if how in ("left", "anti") and value is None:
            found[row["n"], row["at"], None] += 1
        if how in ("inner", "left", "semi") and value is not None:
            found[row["n"], row["at"], None if how == "semi" else value] += 1
    return found


def program(bound: AsOf, how: How, *, filtered: bool, changelog: bool = False) -> Plan:
    picks = [Pick("n", "n"), Pick("at", "at")]
    if how in ("inner", "left"):
        picks.append(Pick("v", None, "v"))
    left, right = orders(changelog=changelog), rates(filtered=filtered)
    join = Join(left, right, (("k", "k"),), how, bound, tuple(picks))
    return Plan("p", (Sink(join, "out"),))


def run(plan: Plan, left: list[Row], right: list[Row], data: st.DataObject) -> TestDriver:
    """Deliver both in batches, the rows of each in their order; a crash may come between."""
    buckets = data.draw(st.sampled_from([1, 3]))
    driver = TestDriver(plan, settings=Settings(buckets=buckets))
    deliveries = [
        list(data.draw(partitionings(rows, partitions=1, max_batches=5)).to(topic))
        for topic, rows in (("orders", left), ("rates", right))
    ]
    # Neither is waited for before it has come: the watermark begins when both have.
    driver.advance_watermark(0)
    turns = data.draw(st.permutations([0] * len(deliveries[0]) + [1] * len(deliveries[1])))
    point = data.draw(st.none() | crashes(driver.steps, len(turns) + 1))
    together = data.draw(st.booleans())
    batches = [deliveries[turn].pop(0) for turn in turns]
    if together and len(batches) > 1 and batches[0].keys() != batches[1].keys():
        batches[:2] = [{**batches[0], **batches[1]}]
    for number, batch in enumerate([*batches, None]):
        if point is not None and point.action == number:
            driver.crash_after(point.step)
        if batch is None:
            driver.finish()
        else:
            driver.push_together(batch)
    return driver


def table(driver: TestDriver) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for row in driver.changes("out"):
        found[row["n"], row["at"], row.get("v")] += row["_weight"]
    return Counter({key: count for key, count in found.items() if count})


@given(order_rows(), histories(), st.sampled_from(HOWS), st.booleans(), st.data())
@settings(max_examples=60, suppress_health_check=CALM)
def test_rows_that_wait_meet_the_version_of_their_time(
    left: list[Row], right: list[Row], how: How, filtered: bool, data: st.DataObject
) -> None:
    plan = program(AsOf("event time", wait=True), how, filtered=filtered)
    driver = run(plan, left, right, data)
    assert driver.late("out") == []
    assert table(driver) == answer(left, right, how, filtered=filtered)


@given(
    order_rows(),
    histories(),
    st.sampled_from(HOWS),
    st.sampled_from(BOUNDS[1:]),
    st.data(),
)
@settings(max_examples=60, suppress_health_check=CALM)
def test_corrected_results_amount_to_the_versions_of_their_time(
    left: list[Row], right: list[Row], how: How, bound: AsOf, data: st.DataObject
) -> None:
    filtered = data.draw(st.booleans())
    driver = run(program(bound, how, filtered=filtered), left, right, data)
    assert driver.late("out") == []
    assert table(driver) == answer(left, right, how, filtered=filtered)


@given(order_rows(), histories(), st.sampled_from(["wait", "corrected"]), st.data())
@settings(max_examples=40, suppress_health_check=CALM)
def test_what_is_taken_back_leaves_what_was_not(
    left: list[Row], right: list[Row], mode: str, data: st.DataObject
) -> None:
    gone = [row for row in left if data.draw(st.booleans())]
    bound = AsOf("event time", wait=mode == "wait", corrected=mode == "corrected")
    plan = program(bound, "left", filtered=False, changelog=True)
    changes = [*left, *({**row, "_weight": -1} for row in gone)]
    driver = run(plan, changes, right, data)
    kept = list(left)
    for row in gone:
        kept.remove(row)
    assert table(driver) == answer(kept, right, "left", filtered=False)


@given(histories(), st.booleans(), st.data())
@settings(max_examples=60, suppress_health_check=CALM)
def test_versions_are_the_same_however_they_come(
    right: list[Row], filtered: bool, data: st.DataObject
) -> None:
    plan = Plan("p", (Sink(Versions(rates(filtered=filtered), ("k",)), "out"),))
    driver = TestDriver(plan, settings=Settings(buckets=data.draw(st.sampled_from([1, 3]))))
    for batch in data.draw(partitionings(right, partitions=1, max_batches=5)).to("rates"):
        driver.push_together(batch)
    driver.finish()
    found = {
        (row["k"], row["v"], _ms(row["valid_from"]), _ms(row["valid_to"]))
        for row in driver.table("out")
    }
    expected = set()
    for row in right:
        later = [other["at"] for other in right if other["k"] == row["k"]]
        end = min((at for at in later if at > row["at"]), default=None)
        if row["_weight"] > 0 and not (filtered and row["v"] % 2):
            expected.add((row["k"], row["v"], row["at"], end))
    assert found == expected


class Chance:
    """A case of chance: rows of both sides, disordered, and how they come."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.how = self._random.choice(HOWS)
        self.filtered = self._random.random() < 0.3
        self.bound = self._random.choice(BOUNDS)
        self.left = self._rows(("n", 3))
        versions = self._rows(("v", 9))
        self.right = list({(row["k"], row["at"]): row for row in versions}.values())
        for row in self.right:
            row["_weight"] = self._random.choice([1, 1, 1, -1])

    def _rows(self, column: tuple[str, int]) -> list[Row]:
        rows, latest = [], 0
        for _ in range(self._random.randint(0, 40)):
            latest += self._random.randint(0, 9)
            at = max(0, latest - self._random.randint(0, DISORDER))
            number = self._random.randint(0, column[1])
            rows.append({"k": self._random.randint(0, 2), column[0]: number, "at": at})
        return rows

    def play(self) -> TestDriver:
        """Let both sides come in pieces of any size, in turns of chance."""
        plan = program(self.bound, self.how, filtered=self.filtered)
        driver = TestDriver(plan, settings=Settings(buckets=self._random.choice([1, 3])))
        driver.advance_watermark(0)
        waiting = {"orders": list(self.left), "rates": list(self.right)}
        while any(waiting.values()):
            batch = {}
            for topic, rows in waiting.items():
                taken = self._random.choice([0, 1, 2, 5])
                if rows[:taken]:
                    batch[topic, 0], rows[:taken] = rows[:taken], []
            driver.push_together(batch)
        driver.finish()
        return driver


def check_seed(seed: int) -> None:
    chance = Chance(seed)
    driver = chance.play()
    assert driver.late("out") == []
    expected = answer(chance.left, chance.right, chance.how, filtered=chance.filtered)
    assert table(driver) == expected, seed


def test_50_seeds_give_the_answer_of_a_brute_force() -> None:
    for seed in range(50):
        check_seed(seed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_10000_seeds_give_the_answer_of_a_brute_force() -> None:
    for seed in range(10_000):
        check_seed(seed)


def _ms(moment: Any) -> int | None:  # noqa: ANN401
    return None if moment is None else int(moment.timestamp() * 1000 + 0.5)
