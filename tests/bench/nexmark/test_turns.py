from __future__ import annotations

from pathlib import Path

import pytest

from bench.nexmark.engines import LABELS, NAMES, NOWHERE
from bench.nexmark.turns import Plan


@pytest.mark.parametrize(
    ("events", "batch", "last", "told"),
    [
        (1000, 250_000, 0, "1,000 events"),
        (1000, 50_000, 0, "1,000 events, batches of 50,000"),
        (1000, 250_000, 500, "1,000 events, batches of up to 500 ms"),
        (5_000_000, 1_000_000, 0, "5,000,000 events"),
        (5_000_000, 250_000, 0, "5,000,000 events, batches of 250,000"),
    ],
)
def test_a_case_says_how_large_batches_are(events: int, batch: int, last: int, told: str) -> None:
    here = Path("nowhere")
    plan = Plan(events=events, folder=here, queries=("q0",), batch=batch, last=last, scratch=here)
    assert plan.case == told


def test_an_engine_that_drops_its_results_is_one_that_also_keeps_them() -> None:
    dropping = [name for name in NAMES if name.endswith(NOWHERE)]
    assert [name.removesuffix(NOWHERE) in NAMES for name in dropping] == [True, True]
    assert all("nowhere" in LABELS[name] for name in dropping)
