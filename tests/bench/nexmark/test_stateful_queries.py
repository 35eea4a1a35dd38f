from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bench.nexmark.check import differences
from bench.nexmark.events import events_folder
from bench.nexmark.stateful_programs import PROGRAMS
from bench.nexmark.statements import started
from penstock.app import App
from penstock.log.open import open_log
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver

EVENTS = 6_000
BATCHES = 3
QUERIES = ("q4", "q5", "q6", "q7", "q9", "q15", "q16", "q17", "q18", "q19")


@pytest.fixture(scope="module", params=[0, 100], ids=["in order", "out of order"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    below = tmp_path_factory.mktemp("nexmark")
    return events_folder(EVENTS, disorder_ms=request.param, below=below)


def run(plan: Plan, folder: Path) -> TestDriver:
    """Push all events in a few batches, as two partitions hold them."""
    driver = TestDriver(plan)
    kinds = {scan.stream.topic for scan in driver.physical.scans}
    whole = {
        kind: pl.concat(pl.read_parquet(path) for path in sorted((folder / kind).glob("*.parquet")))
        for kind in kinds
    }
    for batch in range(BATCHES):
        parts: dict[tuple[str, int], pl.DataFrame] = {}
        for kind, rows in whole.items():
            first, last = (rows.height * place // BATCHES for place in (batch, batch + 1))
            mine = rows.slice(first, last - first)
            parts |= {(kind, odd): mine.gather_every(2, odd) for odd in (0, 1)}
        driver.push_together(parts)
    driver.finish()
    return driver


def found(driver: TestDriver, keys: list[str]) -> pl.DataFrame:
    """Give what is left of the results: the last row of each key, or all where there is none."""
    rows = driver.frame("results")
    if keys:
        rows = rows.unique(keys, keep="last", maintain_order=True).filter(pl.col("_weight") > 0)
        rows = rows.filter(~pl.col("_gone")) if "_gone" in rows.columns else rows
    return rows.select(name for name in rows.columns if not name.startswith("_"))


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_in_sql_gives_what_the_batch_answer_says(query: str, folder: Path) -> None:
    with open_log(folder / "log") as log:
        made = started(query, log, folder, "results")
    keys = [column.held or column.name for column in made.writes.keys]
    rows = found(run(made.plan, folder), keys)
    assert rows.height
    assert differences(query, rows.to_arrow(), folder) == []


@pytest.mark.parametrize("query", sorted(PROGRAMS))
def test_a_query_in_the_dsl_gives_what_the_batch_answer_says(query: str, folder: Path) -> None:
    app = App("nexmark")
    program = PROGRAMS[query]
    program.build(app, "results", folder)
    rows = found(run(app.plan(), folder), list(program.keys))
    assert rows.height
    assert differences(query, rows.to_arrow(), folder) == []
