"""A job moves with its project from the embedded log to Kafka: as if it had stayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.config import load_settings
from penstock.errors import StateError
from penstock.jobs.migration import Migration
from penstock.log.embedded.home import open_home
from penstock.log.kafka.home import is_elsewhere
from penstock.log.open import open_log
from penstock.log.port import Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.spark.job_files import current_files
from penstock.spark.relocate import place_of
from tests.kafka.emptied import EmptiedBroker
from tests.spark.programs import Jobs, append, driven, folded, rows, stored_rows, windowed

pytestmark = pytest.mark.spark


def abort_some(log: Log) -> None:
    """Take offsets that are not copied: the place of a job gets another number."""
    transaction = log.transaction("aborted")
    transaction.begin()
    for number in (0, 1):
        chunk = log.read("visits", number, 0, ReadLimit())
        transaction.append("visits", number, chunk.rows.drop_columns(["_offset"]))
    transaction.abort()
    transaction.close()


@pytest.mark.slow
def test_a_job_goes_on_with_its_state_at_its_place(
    spark: SparkSession, emptied_broker: EmptiedBroker, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    given = rows(120)
    jobs = Jobs(spark, home, home / "jobs" / "windowed")
    with open_home(home) as log:
        append(log, given[:40])
        abort_some(log)
        append(log, given[40:70])
        jobs.start(windowed(), until="caught up", rows=50).await_end()
        # What was not read before the move is read after it.
        append(log, given[70:90])
        log.create_topic("other")
        log.append("other", 0, rows_of_bytes([b"1"]))
    before = place_of(jobs.checkpoint)
    begun = current_files(jobs.checkpoint).spark / "offsets" / "99"
    begun.touch()
    with pytest.raises(StateError, match="MIGRATE_HALF_DONE"):
        place_of(jobs.checkpoint)
    begun.unlink()
    move = Migration(replace(load_settings(), home=home), emptied_broker.address, tmp_path)
    with open_log(emptied_broker.address) as target:
        move.run(target, tell=lambda _: None)
        after = place_of(jobs.checkpoint)
        assert after.topics != before.topics
        assert all(after.positions[at] < before.positions[at] for at in before.positions)
        assert is_elsewhere(home)
        append(target, given[90:])
        # A process that has the old log open keeps it: the next one would be another process.
        jobs = replace(jobs, home=emptied_broker.bind(tmp_path / "anew"))
        assert jobs.run(windowed(), rows=50).status == "ended"
        found = stored_rows(target, "counts")
    assert folded(found) == folded(driven(windowed(), given).rows("counts"))
