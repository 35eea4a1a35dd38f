from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.batch_pace import REMEMBERED, Pace, Sample, fixed_cost

MOST = 4_000_000


class Simulated:
    """A query that costs so much before the first row and so much for each, more or less."""

    def __init__(self, fixed: float, by_row: float, *, noise: float = 0.0, seed: int = 1) -> None:
        self.fixed = fixed
        self.by_row = by_row
        self._noise = noise
        self._chance = random.Random(seed)
        self.samples: list[Sample] = []

    def run(self, pace: Pace, batches: int, *, stall: float = 1.0, waiting: int = MOST) -> None:
        for _ in range(batches):
            rows = min(waiting, pace.next_rows(self.samples))
            factor = self._chance.lognormvariate(0, self._noise) * stall
            took = factor * (self.fixed + self.by_row * rows)
            self.samples.append(Sample(rows, took))

    def ideal(self, milliseconds: float) -> float:
        return (milliseconds - self.fixed) / self.by_row


costs = st.tuples(st.floats(20, 300), st.floats(0.0005, 0.05), st.integers(0, 10_000))


@given(costs)
def test_most_batches_stay_within_the_time_and_use_it_well(cost: tuple[float, float, int]) -> None:
    fixed, by_row, seed = cost
    query = Simulated(fixed, by_row, noise=0.1, seed=seed)
    pace = Pace(1000, MOST)
    query.run(pace, 60)
    settled = query.samples[20:]
    times = sorted(sample.milliseconds for sample in settled)
    reachable = fixed + by_row * MOST > 800
    assert times[int(0.95 * len(times))] <= 1300
    if reachable:
        assert sum(times) / len(times) >= 500


@given(costs)
def test_limits_hold_whatever_batches_cost(cost: tuple[float, float, int]) -> None:
    fixed, by_row, seed = cost
    query = Simulated(fixed, by_row, noise=1.5, seed=seed)
    pace = Pace(1000, 50_000, least=500)
    query.run(pace, 30)
    assert all(500 <= sample.rows <= 50_000 for sample in query.samples)


def test_it_begins_small_and_grows_by_steps() -> None:
    query = Simulated(50, 0.0001)
    query.run(Pace(1000, MOST), 8)
    rows = [sample.rows for sample in query.samples]
    assert rows[0] == 10_000
    assert all(later <= 4 * earlier for earlier, later in itertools.pairwise(rows))
    assert rows[-1] == MOST


def test_one_batch_that_was_held_up_changes_next_to_nothing() -> None:
    pace, query = Pace(1000, MOST), Simulated(100, 0.01)
    query.run(pace, 20)
    before = pace.next_rows(query.samples)
    query.run(pace, 1, stall=20)
    assert pace.next_rows(query.samples) == pytest.approx(before, rel=0.1)


def test_after_a_long_stall_it_is_back_within_a_few_batches() -> None:
    pace, query = Pace(1000, MOST), Simulated(100, 0.01)
    query.run(pace, 20)
    before = pace.next_rows(query.samples)
    query.run(pace, 12, stall=10)
    assert pace.next_rows(query.samples) < before / 3
    query.run(pace, 2 * REMEMBERED)
    assert pace.next_rows(query.samples) == pytest.approx(before, rel=0.3)
    assert query.samples[-20].milliseconds > 400


def test_rows_that_become_dearer_are_noticed_within_a_few_batches() -> None:
    pace, query = Pace(1000, MOST), Simulated(100, 0.01)
    query.run(pace, 20)
    query.by_row = 0.04
    query.run(pace, 8)
    assert query.samples[-1].milliseconds <= 1300
    query.run(pace, 20)
    assert query.samples[-1].milliseconds <= 1000


def test_where_nothing_can_be_that_fast_half_of_the_time_still_goes_into_rows() -> None:
    pace, query = Pace(100, MOST), Simulated(300, 0.01)
    query.run(pace, 20, waiting=5_000)
    query.run(pace, 20)
    assert 450 <= query.samples[-1].milliseconds <= 800


def test_small_batches_between_do_not_slow_the_next_large_one_down() -> None:
    pace, query = Pace(1000, MOST), Simulated(100, 0.01)
    query.run(pace, 10, waiting=10)
    assert pace.next_rows(query.samples) >= 10_000


def test_equal_batches_tell_nothing_of_the_cost_before_the_first_row() -> None:
    assert fixed_cost([Sample(100, 50.0)] * 5) == 0
    assert fixed_cost([Sample(0, 40.0), Sample(1000, 50.0), Sample(2000, 60.0)]) == 40
    assert fixed_cost([]) == 0
