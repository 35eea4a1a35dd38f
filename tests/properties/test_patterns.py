"""Random patterns give what a matcher finds that tries all sequences one by one."""

from __future__ import annotations

import random
from datetime import datetime
from itertools import pairwise

import pytest

from penstock.kernel import match_find
from penstock.model.physical import Settings
from penstock.testing.driver import TestDriver
from tests.properties.pattern_cases import Case, a_case, ordered
from tests.properties.pattern_oracle import Row


def results(driver: TestDriver) -> list[str]:
    rows: list[Row] = []
    for row in driver.changes("out"):
        assert row.pop("_weight") == 1
        row.pop("_taken", None)
        if isinstance(row.get("at"), datetime):
            row["at"] = round(row["at"].timestamp() * 1000)
        rows.append(row)
    return ordered(rows)


def run(case: Case, seed: int, *, crash: bool = True) -> TestDriver:
    """Deliver the rows in batches of chance, with a crash somewhere."""
    chance = random.Random(f"delivery {seed}")
    settings = Settings(buckets=chance.choice((1, 3)), preaggregate=chance.random() < 0.5)
    driver = TestDriver(case.plan, settings=settings)
    cuts = sorted(chance.sample(range(len(case.rows) + 1), min(len(case.rows), 3)))
    edges = [0, *cuts, len(case.rows)]
    batches = [case.rows[start:end] for start, end in pairwise(edges)]
    dies_at = chance.randrange(len(batches) + 1)
    for number, batch in enumerate([*batches, None]):
        if crash and number == dies_at:
            driver.crash_after(chance.choice(driver.steps))
        if batch is None:
            driver.finish()
        else:
            driver.push("in", list(batch))
    return driver


def check(seed: int, *, earlier: bool, most_rows: int = 12) -> None:
    case = a_case(seed, earlier=earlier, most_rows=most_rows)
    driver = run(case, seed)
    assert driver.late("out") == []
    assert results(driver) == ordered(case.expected), seed
    held = driver.state("match-1")
    assert {name for name, table in held.items() if table.height} <= {"numbers"}


@pytest.fixture(params=[200, 1], ids=["one start at a time", "all starts together"])
def busy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let keys count as busy, whose starts are walked together, after so many rows."""
    monkeypatch.setattr(match_find, "_LONG", request.param)


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("seed", range(60))
def test_a_random_pattern_finds_what_trying_all_sequences_finds(seed: int) -> None:
    check(seed, earlier=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_conditions_on_earlier_rows_find_the_same_too(seed: int) -> None:
    check(10_000 + seed, earlier=True)


@pytest.mark.parametrize("seed", range(10))
def test_a_few_random_patterns_find_the_same(seed: int) -> None:
    check(1_000 + seed, earlier=seed % 2 == 0)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("block", range(100))
def test_20000_random_patterns_find_what_trying_all_sequences_finds(block: int) -> None:
    for seed in range(200):
        check(100_000 + 200 * block + seed, earlier=seed % 2 == 0, most_rows=16)
