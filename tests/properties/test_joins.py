"""Joins of rows that come and go at random are the joins of what is left in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import get_args

import pytest

from penstock.kernel.port import END_OF_TIME
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.join import How
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from tests.kernel.joins import a_join
from tests.properties.stream_joins import (
    Expectation,
    RandomRun,
    Row,
    outcome,
    random_bound,
    run_in_batches,
    summed,
    timed_join,
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


def check_tables(query: Query, chance: Random, batches: int) -> None:
    driver, rows = changed_at_random(query, chance, batches)
    assert table(driver) == TABLES.answer(query.sql, rows), query.sql


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
    total = Measure("v0", "sum", (Column("v0"),))
    totals = Aggregate(a_table(0), ("fk0",), (total,), refinement=RETRACTING)
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


def check_orders(seed: int) -> None:
    """Rows in every order of arrival, while the watermark waits for all of them."""
    chance = Random(seed)
    how: How = chance.choice(get_args(How))
    bound = random_bound(chance, sessions=True)
    rows: list[tuple[int, Row]] = [
        (side, (chance.choice([1, 1, 2]), chance.randint(0, 1), chance.randint(0, 8)))
        for side in (0, 0, 1, 1)
    ]
    left, right = (Counter(row for side, row in rows if side == port) for port in (0, 1))
    for eager in (False, True):
        relation = a_join(how, bound, eager=eager)
        expected = Expectation(relation, END_OF_TIME, 0).of(left, right)
        for order in permutations(rows):
            assert outcome(relation, order) == expected, (seed, relation, order)


def check_batches(seed: int) -> None:
    """Streams in any batches, with a crash after any step."""
    chance = Random(seed)
    relation = timed_join(chance)
    driver, rows = run_in_batches(relation, chance)
    assert driver.late("out") == []
    names = ["_weight", *relation.schema.names, "_time"]
    found = summed(driver.frame("out").select(names).rows())
    assert found == Expectation(relation, END_OF_TIME, 0).of(*rows), (seed, relation)
    assert all(not driver.state(keyed.id) for keyed in driver.physical.operators)


def test_joins_of_streams_are_found_by_looking_at_all_pairs() -> None:
    for seed in range(80):
        RandomRun(seed).check()


def test_streams_in_any_batches_with_a_crash_give_the_same() -> None:
    for seed in range(20):
        check_batches(seed)


def test_the_order_of_arrival_does_not_matter() -> None:
    for seed in range(6):
        check_orders(seed)


def test_joins_of_two_tables_are_those_of_sql() -> None:
    for seed in range(50):
        check_two_tables(seed)


def test_five_tables_are_joined_by_foreign_keys() -> None:
    for seed in range(12):
        check_foreign_keys(seed)


def test_totals_are_joined_and_totalled() -> None:
    for seed in range(12):
        check_totals(seed)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("check", "seeds"),
    [
        (lambda seed: RandomRun(seed).check(), 10_000),
        (check_two_tables, 10_000),
        (check_batches, 5_000),
        (check_foreign_keys, 3_000),
        (check_totals, 3_000),
        (check_orders, 500),
    ],
    ids=["streams", "two tables", "batches", "five tables", "totals", "orders"],
)
def test_many_random_joins(check: Callable[[int], None], seeds: int) -> None:
    for seed in range(seeds):
        check(seed)
