"""A stopped job is set to another place of its input, and begins there with nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock.errors import OffsetError, RunError, StateError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.record import TopicPartition
from penstock.spark.progress_file import read_start
from penstock.spark.rewind import rewind
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import VISITS, Jobs, append, driven, folded, rows, stored_rows, windowed
from tests.spark.stored_job import entered

STAMPED = VISITS.append(pa.field("_timestamp", pa.int64()))
FAR = int(datetime(2999, 1, 1, tzinfo=UTC).timestamp() * 1000)
FIRST, SECOND = TopicPartition("visits", 0), TopicPartition("visits", 1)


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_rewound_job_gives_what_a_fresh_run_from_there_gives(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    program, jobs = windowed(), Jobs(spark, home, tmp_path / "job")
    found = rows(60)
    append(log, found)
    # A batch that fails for ever is given up; what it has appended vanishes.
    arm(home, "after append")
    with pytest.raises(RunError, match="fault"):
        jobs.start(program, parts=FAULTY, until="caught up").await_end()
    rewind(home, jobs.checkpoint, "beginning", session=spark)
    jobs.run(program)
    once = folded(driven(program, found).rows("counts"))
    assert folded(stored_rows(log, "counts")) == once
    # It has ended, and is as new: its results are there twice, or dropped first.
    rewound = rewind(home, jobs.checkpoint, {FIRST: 10}, session=spark)
    assert (rewound.before, rewound.after) == ({FIRST: 30, SECOND: 30}, {FIRST: 10, SECOND: 30})
    rewind(home, jobs.checkpoint, "beginning", session=spark)
    jobs.run(program)
    assert folded(stored_rows(log, "counts")) == {row: 2 * n for row, n in once.items()}
    rewind(home, jobs.checkpoint, {FIRST: 20, SECOND: 20}, drop_results=True, session=spark)
    jobs.run(program)
    rest = found[0::2][20:], found[1::2][20:]
    later = [row for pair in zip(*rest, strict=True) for row in pair]
    assert folded(stored_rows(log, "counts")) == folded(driven(program, later).rows("counts"))


def test_a_place_is_a_word_a_time_or_offsets(log: EmbeddedLog, home: Path, tmp_path: Path) -> None:
    append(log, rows(20))
    files = entered(home, tmp_path / "job")
    late = pa.Table.from_pylist([{**rows(1)[0], "_timestamp": FAR}], STAMPED)
    log.append("visits", 0, late)

    def to(place: Any) -> dict[TopicPartition, int]:  # noqa: ANN401
        return dict(rewind(home, tmp_path / "job", place).after)

    assert to("end") == {FIRST: 11, SECOND: 10}
    assert to("beginning") == {FIRST: 0, SECOND: 0}
    assert to("2999-01-01") == to(datetime(2999, 1, 1, tzinfo=UTC)) == {FIRST: 10, SECOND: 10}
    assert to(json.dumps({"visits": {"1": 4}})) == {FIRST: 10, SECOND: 4}
    kept = [path.name for path in (tmp_path / "job").iterdir()]
    assert len([name for name in kept if name.isdigit()]) == 1
    assert not files.folder.exists()
    for wrong in ("7", "{}}", '{"visits": 3}', {TopicPartition("others", 0): 1}):
        with pytest.raises(UsageError, match="REWIND_PLACE"):
            to(wrong)
    with pytest.raises(UsageError, match="POSITION_TEXT"):
        to("yesterday")
    with pytest.raises(OffsetError, match="OFFSET_RANGE"):
        to({FIRST: 12})
    with pytest.raises(StateError, match="CHECKPOINT_MISSING"):
        rewind(home, tmp_path / "none", "end")
    start = read_start(next((tmp_path / "job").glob("*/start.json")))
    assert start is not None
    assert start.offset.positions == {FIRST: 10, SECOND: 4}
    assert start.left is None
