"""Programs on Spark give what they give without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan, Sink
from penstock.spark import program_sink
from tests.spark.programs import (
    Jobs,
    append,
    chained,
    driven,
    folded,
    records,
    renamed,
    rows,
    stored_rows,
    visits,
    windowed,
)

pytestmark = pytest.mark.spark


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def test_a_window_over_a_topic_gives_the_table_of_the_driver(log: EmbeddedLog, jobs: Jobs) -> None:
    given = rows(120)
    append(log, given)
    query = jobs.run(windowed(), rows=50)
    assert query.status == "ended"
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))
    first = records(log, "counts")[0]
    assert first["_key"] == first["page"].encode()
    assert first["_timestamp"] == round(first["window_end"].timestamp() * 1000) - 1
    progress = query.progress
    assert progress is not None
    assert progress.batch == 2
    accounts = {account.operator: account for account in progress.accounts}
    assert accounts["scan-visits"].taken == accounts["agg-1"].taken == 120
    assert accounts["agg-1"].given == len(stored_rows(log, "counts"))
    assert all(account.balanced for account in progress.accounts)
    assert [state.rows for state in progress.states] == [0]


@pytest.mark.parametrize("place", ["in_order", "staged_rows", "watermarks_after"])
def test_a_batch_that_is_interrupted_in_this_process_is_ended_all_the_same(
    log: EmbeddedLog, jobs: Jobs, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Polars raises Ctrl-C in any thread that works in it, and py4j would not answer Spark."""
    whole = getattr(program_sink, place)
    calls = iter(range(1000))

    def interrupted(*given: object) -> object:
        if next(calls) == 0:
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(program_sink, place, interrupted)
    given = rows(60)
    append(log, given)
    assert jobs.run(windowed(), rows=40).status == "ended"
    assert next(calls) > 2
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))


def test_an_aggregate_of_a_retracting_one_is_right(log: EmbeddedLog, jobs: Jobs) -> None:
    given = rows(90)
    append(log, given)
    jobs.run(chained(), rows=40)
    driver = driven(chained(), given)
    for topic in ("counts", "spread", "busy"):
        found = stored_rows(log, topic)
        assert folded(found) == folded(driver.rows(topic)), topic
        assert any(row["_weight"] < 0 for row in found), topic


def test_tasks_and_fusion_change_how_a_program_runs_and_not_what_it_gives(
    log: EmbeddedLog, jobs: Jobs, tmp_path: Path
) -> None:
    given = rows(60)
    append(log, given)
    expected = {
        topic: folded(driven(chained(), given).rows(topic)) for topic in ("counts", "spread")
    }
    for number, changes in enumerate(({"parallelism": 4}, {"parallelism": 1, "fuse": False})):
        own = replace(jobs.with_settings(**changes), checkpoint=tmp_path / str(number))
        program = renamed(chained(), str(number))
        own.run(program, rows=40)
        for topic, table in expected.items():
            assert folded(stored_rows(log, f"{topic}{number}")) == table, (topic, changes)


def test_many_rows_without_state_are_written_once_and_in_the_order_of_their_partition(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    given = rows(100_000)
    append(log, given)
    copied = Plan("copy", (Sink(visits(), "copy", keys=("page",)),))
    jobs.run(copied, rows=70_000)
    found = stored_rows(log, "copy")
    assert sorted(row["n"] for row in found) == list(range(100_000))
    of_page = [row["n"] for row in found if row["page"] == "/3" and row["n"] % 2]
    assert of_page == sorted(of_page)
    assert not list((jobs.home / "staging").rglob("*.arrows"))


def test_history_and_live_rows_have_no_seam_and_the_end_is_the_end(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    given = rows(90)
    append(log, given[:60])
    jobs.start(windowed(), until="caught up").await_end()
    append(log, given[60:])
    assert jobs.run(windowed()).status == "ended"
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))
    assert jobs.run(windowed()).status == "ended"
    append(log, given[:2])
    with pytest.raises(RunError, match="PROGRAM_ENDED"):
        jobs.run(windowed())


def test_a_program_that_is_drained_before_its_first_batch_reads_nothing(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    given = rows(60)
    append(log, given)
    jobs.start(windowed(), until="drained").await_end()
    assert stored_rows(log, "counts") == []
    jobs.run(windowed(), rows=50)
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))
