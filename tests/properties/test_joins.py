"""Joins of rows that come and go at random are the joins of what is left in the end."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random
from typing import get_args

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.join import How
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.testing.driver import TestDriver
from tests.kernel.joins import JoinBench, a_join
from tests.properties.stream_joins import (
    Expectation,
    RandomRun,
    Row,
    outcome,
    random_bound,
)
from tests.properties.table_joins import (
    Query,
    Tables,
    a_table,
    changed_at_random,
    foreign_keys,
    joined,
    table,
    two_tables,
)

pytestmark = pytest.mark.slow

TABLES = Tables()
RETRACTING = Refinement("retracting")


def check_tables(query: Query, chance: Random, batches: int) -> TestDriver:
    driver, rows = changed_at_random(query, chance, batches)
    assert table(driver) == TABLES.answer(query.sql, rows), query.sql
    return driver


def check_two_tables(seed: int) -> None:
    chance = Random(seed)
    check_tables(two_tables(chance), chance, chance.randint(1, 4))


def check_foreign_keys(seed: int) -> None:
    chance = Random(seed)
    check_tables(foreign_keys(chance, 5), chance, 3)


def check_totals(seed: int) -> None:
    """Totals of a table joined with another one, and totals of that."""
    chance = Random(seed)
    how: How = chance.choice(["inner", "left"])
    sums = (Measure("v0", "sum", (Column("v0"),)),)
    totals = Aggregate(a_table(0), ("fk0",), sums, refinement=RETRACTING)
    named = joined(totals, a_table(1), ("fk0", "id1"), how)
    sums = (Measure("v", "sum", (Column("v0"),)), Measure("n", "count"))
    relation = Aggregate(named, ("fk1",), sums, refinement=RETRACTING)
    word = "JOIN" if how == "inner" else "LEFT JOIN"
    inner = "SELECT fk0, sum(v0) AS v0 FROM t0 GROUP BY fk0"
    sql = (
        f"SELECT fk1, CAST(sum(v0) AS BIGINT), count(*) FROM ({inner})"
        f" {word} t1 ON fk0 = id1 GROUP BY fk1"
    )
    check_tables(Query(relation, sql, 2), chance, 3)


def random_rows(chance: Random, count: int) -> list[tuple[int, Row]]:
    return [
        (chance.randrange(2), (chance.choice([1, 1, 2]), number, chance.randint(0, 8)))
        for number in range(count)
    ]


def check_orders(seed: int, orders: int) -> None:
    """Rows in any order of arrival, while the watermark waits for all of them."""
    chance = Random(seed)
    how: How = chance.choice(get_args(How))
    bound = random_bound(chance)
    rows = random_rows(chance, 5)
    left, right = (Counter(row for side, row in rows if side == port) for port in (0, 1))
    for eager in (False, True):
        relation = a_join(how, bound, eager=eager)
        expected = Expectation(relation, 2**62, 0).of(left, right)
        found = list(permutations(rows))
        for order in chance.sample(found, orders):
            assert outcome(relation, list(order), _may_wait(order)) == expected, (seed, order)


def _may_wait(order: tuple[tuple[int, Row], ...]) -> object:
    del order
    return None


def test_joins_of_streams_are_found_by_looking_at_all_pairs() -> None:
    for seed in range(200):
        RandomRun(seed).check()


def test_joins_of_two_tables_are_those_of_sql() -> None:
    for seed in range(200):
        check_two_tables(seed)


def test_five_tables_are_joined_by_foreign_keys() -> None:
    for seed in range(25):
        check_foreign_keys(seed)


def test_totals_are_joined_and_totalled() -> None:
    for seed in range(25):
        check_totals(seed)


def test_the_order_of_arrival_does_not_matter() -> None:
    for seed in range(20):
        check_orders(seed, 10)


@pytest.mark.soak
def test_10000_joins_of_streams_are_found_by_looking_at_all_pairs() -> None:
    for seed in range(10_000):
        RandomRun(seed).check()
