from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bench.nexmark.check import differences
from bench.nexmark.events import events_folder
from bench.nexmark.programs import PROGRAMS
from bench.nexmark.statements import names, started
from penstock.app import App
from penstock.log.open import open_log
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver

EVENTS = 5_000
QUERIES = ("q0", "q1", "q2", "q3", "q8", "q10", "q11", "q12", "q13", "q14", "q20", "q21", "q22")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events_folder(EVENTS, disorder_ms=3000, below=tmp_path_factory.mktemp("nexmark"))


def given(plan: Plan, folder: Path) -> pl.DataFrame:
    """Give the results of a program that all events are pushed to, in two batches."""
    driver = TestDriver(plan)
    topics = {scan.stream.topic for scan in driver.physical.scans}
    whole = {
        topic: pl.concat(pl.read_parquet(it) for it in sorted((folder / topic).glob("*.parquet")))
        for topic in topics
    }
    for half in (0, 1):
        parts = {
            (topic, odd): rows.slice(half * rows.height // 2, rows.height // 2).gather_every(2, odd)
            for topic, rows in whole.items()
            for odd in (0, 1)
        }
        driver.push_together(parts)
    driver.finish()
    rows = driver.frame("results")
    return rows.select(name for name in rows.columns if not name.startswith("_"))


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_in_sql_gives_what_the_batch_answer_says(query: str, folder: Path) -> None:
    with open_log(folder / "log") as log:
        made = started(query, log, folder, "results")
    rows = given(made.plan, folder)
    assert rows.height
    named = rows.rename({name: name.lower() for name in rows.columns})
    wanted = [name for name in named.columns if not name.startswith("window")]
    assert differences(query, named.select(wanted).to_arrow(), folder) == []


@pytest.mark.parametrize("query", sorted(PROGRAMS))
def test_a_query_in_the_dsl_gives_what_the_batch_answer_says(query: str, folder: Path) -> None:
    app = App("nexmark")
    PROGRAMS[query].build(app, "results", folder)
    rows = given(app.plan(), folder)
    assert rows.height
    assert differences(query, rows.to_arrow(), folder) == []


def test_all_queries_are_there() -> None:
    assert names() == tuple(f"q{number}" for number in range(23))


def test_nothing_is_read_that_a_query_does_not_need(folder: Path) -> None:
    with open_log(folder / "log") as log:
        made = started("q2", log, folder, "results")
    driver = TestDriver(made.plan)
    assert [scan.columns for scan in driver.physical.scans] == [("auction", "price")]
