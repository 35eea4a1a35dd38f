"""H01, H02, H04 to H06, H09: what a crash at each commit step costs under each guarantee."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.job_settings import Guarantee, JobSettings
from penstock.spark.job_files import current_files
from penstock.spark.program_options import Until
from penstock.spark.query import ProgramQuery
from penstock.spark.run import PARTS, Parts
from tests.faults.giving import GIVING, STEPS, giving_program
from tests.house.survey import ROOT
from tests.spark.faulty import arm, is_armed
from tests.spark.programs import Jobs, append, rows, stored_rows

pytestmark = pytest.mark.spark

ROWS = 12
GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
NOT_THERE = "-"


class Crashes:
    """One job of one guarantee: rows come, the job fails at a step, and is started again."""

    def __init__(self, spark: SparkSession, folder: Path, guarantee: Guarantee) -> None:
        self.how = JobSettings(guarantee=guarantee)
        self.jobs = Jobs(spark, folder / "home", folder / "job")
        self.given = 0

    def run(self, until: Until = "caught up", parts: Parts = PARTS) -> ProgramQuery:
        query = self.jobs.start(giving_program(), how=self.how, until=until, parts=parts)
        query.await_end()
        return query

    def crash_at(self, log: EmbeddedLog, step: str) -> str:
        """Give how many rows are missing and how many came too often: `missing / twice`."""
        first = self.given
        self.given += ROWS
        append(log, rows(ROWS, first=first))
        arm(self.jobs.home, step)
        try:
            with pytest.raises(RunError, match=f"fault at {step}"):
                self.run(parts=GIVING)
        except pytest.fail.Exception:
            assert is_armed(self.jobs.home)
            (self.jobs.home / "fault").unlink()
            return NOT_THERE
        assert not is_armed(self.jobs.home)
        query = self.run()
        if self.how.guarantee != "at-most-once":
            # H09: only what came since the checkpoint is read again.
            assert _began_at(query) == first
        found = Counter(row["n"] for row in stored_rows(log, "given"))
        missing = sum(1 for n in range(first, self.given) if not found[n])
        twice = sum(max(found[n] - 1, 0) for n in range(first, self.given))
        return f"{missing} / {twice}"


def _began_at(query: ProgramQuery) -> int:
    """Give how many rows the first batch of a run left where they were."""
    (source,) = query.spark.recentProgress[0]["sources"]
    start = json.loads(source["startOffset"]) if source["startOffset"] else None
    if start is None:
        return 0
    return sum(at for topic in start["topics"].values() for at in topic["offsets"].values())


@pytest.mark.timeout(400)
def test_what_a_crash_at_each_commit_step_costs(spark: SparkSession, tmp_path: Path) -> None:
    costs: dict[str, dict[str, str]] = {step: {} for step in STEPS}
    for guarantee in GUARANTEES:
        crashes = Crashes(spark, tmp_path / guarantee, guarantee)
        with open_log(crashes.jobs.home) as log:
            for step in STEPS:
                costs[step][guarantee] = crashes.crash_at(log, step)
            crashes.run(until="end")
            counted = sum(row["visits"] for row in stored_rows(log, "windows"))
        # Windows count a row as often as it was given, and never a lost one.
        assert guarantee != "exactly-once" or counted == crashes.given
        assert guarantee != "at-most-once" or counted <= crashes.given
        assert guarantee != "at-least-once" or counted >= crashes.given
        files = current_files(crashes.jobs.checkpoint)
        assert files.begun == files.committed
    lines = [f"| {step} | {' | '.join(cells.values())} |" for step, cells in costs.items()]
    print("\n".join(lines))  # noqa: T201  # what the document shows
    by_guarantee = {
        guarantee: [
            tuple(map(int, cells[guarantee].split(" / ")))
            for cells in costs.values()
            if cells[guarantee] != NOT_THERE
        ]
        for guarantee in GUARANTEES
    }
    assert set(by_guarantee["exactly-once"]) == {(0, 0)}
    assert all(missing == 0 for missing, _ in by_guarantee["at-least-once"])
    assert any(twice for _, twice in by_guarantee["at-least-once"])
    assert all(twice == 0 for _, twice in by_guarantee["at-most-once"])
    assert any(missing for missing, _ in by_guarantee["at-most-once"])
    document = (ROOT / "docs" / "guarantees.md").read_text()
    assert [line for line in lines if line not in document] == []
