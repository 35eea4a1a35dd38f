"""A job with a hot standby: it follows, takes over fenced, and loses and doubles nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.job_files import current_files
from penstock.spark.standby.pair import ActiveOptions, ActiveQuery, start_active
from penstock.spark.standby_files import OWN, STANDBY, Lead, Sides
from tests.eventually import eventually
from tests.spark.programs import (
    Jobs,
    Row,
    append,
    chained,
    driven,
    folded,
    rows,
    stored_rows,
)

pytestmark = pytest.mark.spark

PATIENCE = 60.0


class Pair:
    """A lead and a standby of one job, in one session."""

    def __init__(self, spark: SparkSession, home: Path, checkpoint: Path) -> None:
        self.spark = spark
        self.home = home
        self.checkpoint = checkpoint
        self.sides = Sides(checkpoint)

    def start(self, **more: object) -> ActiveQuery:
        options = ActiveOptions(session=self.spark, limits=BatchLimits(rows=40), **more)  # type: ignore[arg-type]
        return start_active(
            plan(chained()), home=self.home, checkpoint=self.checkpoint, options=options
        )

    def committed(self, side: str) -> int:
        return self.sides.files(side).committed


def test_a_standby_takes_over_and_the_old_lead_becomes_the_standby(
    spark: SparkSession, home: Path, log: EmbeddedLog, tmp_path: Path
) -> None:
    pair = Pair(spark, home, tmp_path / "job")
    given = rows(320)
    append(log, given[:80])
    first = pair.start()
    eventually(lambda: pair.committed(OWN) >= 1)
    second = pair.start()
    assert (first.leads, second.leads) == (True, False)
    append(log, given[80:120])
    eventually(lambda: pair.committed(STANDBY) == pair.committed(OWN) >= 2)

    # The lead dies with a batch in hand.
    append(log, given[120:200])
    eventually(lambda: pair.sides.files(OWN).begun >= 3)
    first.abandon()
    eventually(lambda: second.leads)
    assert current_files(pair.checkpoint) == pair.sides.files(STANDBY)
    third = pair.start()
    assert (third.leads, second.leads) == (False, True)
    append(log, given[200:240])
    eventually(lambda: pair.committed(STANDBY) >= 5)
    with pytest.raises(RunError, match="STANDBY_TAKEN"):
        pair.start()
    # And back again.
    second.abandon()
    eventually(lambda: third.leads)
    append(log, given[240:])
    eventually(lambda: pair.committed(OWN) >= 6)
    third.stop()
    assert third.await_end(timedelta(seconds=5))
    assert pair.sides.lead == Lead(OWN, 2, pair.sides.lead.inherited, resting=True)
    assert_nothing_lost_or_doubled(pair, log, given)


def assert_nothing_lost_or_doubled(pair: Pair, log: EmbeddedLog, given: list[Row]) -> None:
    Jobs(pair.spark, pair.home, pair.checkpoint).run(chained(), rows=40)
    driver = driven(chained(), given)
    for topic in ("counts", "spread", "busy"):
        assert folded(stored_rows(log, topic)) == folded(driver.rows(topic)), topic
