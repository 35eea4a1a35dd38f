"""Rows, topics and states that are not as they should be, on Spark: told by code, nothing lost."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from penstock.errors import PenstockError, RunError, SchemaError, TopicError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.expr import Call, Column, Literal
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Apply, Expect
from penstock.spark.job_files import current_files
from penstock.spark.rescale import rescale
from tests.eventually import eventually
from tests.faults.large_job import large_program, large_rows
from tests.spark.programs import (
    VISITS,
    Jobs,
    Row,
    append,
    by_page,
    driven,
    folded,
    rows,
    stored_rows,
    visits,
    windowed,
)

pytestmark = pytest.mark.spark
JAVA = ("\tat ", "java.", "org.apache", "Py4J", "JVM")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def log(home: Path) -> Iterator[EmbeddedLog]:
    with open_log(home) as opened:
        yield opened


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def refuse_seven(row: Row) -> Row:
    if row["n"] == 7:
        message = "seven is not for me"
        raise ValueError(message)
    return row


def refuse_sevens(table: pa.Table) -> pa.Table:
    for n in table["n"].to_list():
        refuse_seven({"n": n})
    return table


def assert_plain(error: PenstockError) -> None:
    """It is told in a few lines, without the Java around it."""
    text = str(error)
    assert not [word for word in JAVA if word in text], text
    assert len(text.splitlines()) <= 2, text


def test_bad_rows_are_parked_and_the_rest_goes_on(log: EmbeddedLog, jobs: Jobs) -> None:
    source = visits(max_ahead=timedelta(days=1))
    nanoseconds = 1_770_000_000_000_000_000
    strange = [
        {"page": "/bad", "n": 100, "at": None},
        {"page": "/bad", "n": 101, "at": datetime(2999, 1, 1, tzinfo=UTC)},
    ]
    given = rows(20)
    append(log, [*given[:10], *strange, *given[10:]])
    times = pa.array([nanoseconds], pa.int64()).cast(VISITS.field("at").type)
    log.append("visits", 0, pa.table({"page": ["/bad"], "n": [102], "at": times}, VISITS))
    by_row = Apply(source, "refuse_seven", refuse_seven, "map", source.schema)
    by_table = Apply(source, "refuse_sevens", refuse_sevens, "polars", source.schema)
    program = Plan("bad", (Sink(by_page(by_row), "counts"), Sink(by_page(by_table), "again")))
    query = jobs.run(program, rows=12)
    good = [row for row in given if row["n"] != 7]
    for topic in ("counts", "again"):
        wanted = driven(Plan("p", (Sink(by_page(visits()), topic),)), good).rows(topic)
        assert folded(stored_rows(log, topic)) == folded(wanted)
        (letter,) = [row for row in stored_rows(log, f"{topic}.dead") if "seven" in row["error"]]
        assert letter["error"] == "ValueError: seven is not for me"
        assert "in refuse_seven" in letter["traceback"]
        assert '"n":7' in letter["row"]
    codes = {row["error"].partition("]")[0] for row in stored_rows(log, "counts.dead")}
    assert codes == {
        "[EVENT_TIME_NULL",
        "[EVENT_TIME_AHEAD",
        "[EVENT_TIME_RANGE",
        "ValueError: seven is not for me",
    }
    progress = query.progress
    assert progress is not None
    assert all(account.balanced for account in progress.accounts)
    assert next(a for a in progress.accounts if a.operator == "scan-visits").dead == 3


def test_an_expectation_that_fails_the_program_names_the_row_and_nothing_is_written(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    not_seven = Call("ne", (Column("n"), Literal(7)))
    strict = Expect(visits(), "not seven", not_seven, "fail", site="shop.py:7")
    append(log, rows(12))
    with pytest.raises(RunError, match="EXPECTATION_FAILED") as caught:
        jobs.run(Plan("strict", (Sink(by_page(strict), "counts"),)))
    assert_plain(caught.value)
    assert '"n":7' in str(caught.value)
    assert "shop.py:7" in str(caught.value)
    assert stored_rows(log, "counts") == []
    # Corrected, it goes on from where it stopped.
    kind = Expect(visits(), "not seven", not_seven, "drop", site="shop.py:7")
    jobs.run(Plan("strict", (Sink(by_page(kind), "counts"),)))
    good = [row for row in rows(12) if row["n"] != 7]
    wanted = driven(windowed(), good).rows("counts")
    assert folded(stored_rows(log, "counts")) == folded(wanted)


def test_a_state_that_cannot_be_read_stops_the_program_and_nothing_is_lost(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    given = rows(60)
    append(log, given[:40])
    jobs.start(windowed(), until="caught up").await_end()
    # Another parallelism writes the states as files, one a bucket.
    rescale(jobs.home, jobs.checkpoint, 1, session=jobs.spark)
    files = current_files(jobs.checkpoint)
    states = sorted(files.inherited.rglob("*.state"))
    whole = states[0].read_bytes()
    append(log, given[40:])
    own = jobs.with_settings(parallelism=1)
    for damaged, code in (
        (whole[:-1] + bytes([whole[-1] ^ 1]), "STATE_UNREADABLE"),
        (b"", "STATE_UNREADABLE"),
    ):
        states[0].write_bytes(damaged)
        before = stored_rows(log, "counts")
        with pytest.raises(RunError, match=code) as caught:
            own.run(windowed())
        assert_plain(caught.value)
        assert files.committed == -1
        assert stored_rows(log, "counts") == before
    states[0].write_bytes(whole)
    own.run(windowed())
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))


def test_a_file_of_a_large_state_that_is_damaged_or_lost_stops_the_program_and_nothing_is_lost(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    given = [*large_rows(0), *large_rows(1)]
    append(log, large_rows(0))
    jobs.start(large_program(), until="caught up").await_end()
    append(log, large_rows(1))
    for change, code in ((damage, "STATE_UNREADABLE"), (Path.unlink, "STATE_FILE")):
        # In a copy, since workers remember what they wrote last.
        copied = replace(jobs, checkpoint=jobs.checkpoint.with_name(code))
        shutil.copytree(jobs.checkpoint, copied.checkpoint)
        files = current_files(copied.checkpoint)
        change(next(files.memory.rglob("*.state")))
        with pytest.raises(RunError, match=code) as caught:
            copied.run(large_program())
        assert_plain(caught.value)
        assert files.committed == 0
    jobs.run(large_program())
    driver = driven(large_program(), given)
    for topic in ("counts", "spread"):
        assert folded(stored_rows(log, topic)) == folded(driver.rows(topic))


def damage(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_a_damaged_checkpoint_stops_the_program_and_its_copy_brings_it_back(
    log: EmbeddedLog, jobs: Jobs, tmp_path: Path
) -> None:
    given = rows(60)
    append(log, given[:40])
    jobs.start(windowed(), until="caught up").await_end()
    shutil.copytree(jobs.checkpoint, tmp_path / "copy")
    for file in current_files(jobs.checkpoint).notes.iterdir():
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    append(log, given[40:])
    before = stored_rows(log, "counts")
    with pytest.raises(RunError, match="JOB_FILE_BROKEN") as caught:
        jobs.run(windowed())
    assert_plain(caught.value)
    assert "notes" in caught.value.fact
    assert stored_rows(log, "counts") == before
    shutil.rmtree(jobs.checkpoint)
    shutil.copytree(tmp_path / "copy", jobs.checkpoint)
    jobs.run(windowed())
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))


def test_a_topic_that_lacks_a_column_or_has_another_type_is_refused_at_the_start(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        jobs.run(windowed())
    log.create_topic("visits", schema=VISITS.remove(1))
    with pytest.raises(SchemaError, match=r'INPUT_SCHEMA.*"visits" has no column "n"'):
        jobs.run(windowed())
    log.delete_topic("visits")
    log.create_topic("visits", schema=VISITS.set(1, pa.field("n", pa.string())))
    with pytest.raises(SchemaError, match=r'INPUT_SCHEMA.*"n" of topic "visits" is string'):
        jobs.run(windowed())
    log.delete_topic("visits")
    log.create_topic("visits")
    with pytest.raises(SchemaError, match="INPUT_SCHEMA"):
        jobs.run(windowed())


def test_a_topic_with_narrower_numbers_is_read(log: EmbeddedLog, jobs: Jobs) -> None:
    narrow = VISITS.set(1, pa.field("n", pa.int16()))
    log.create_topic("visits", schema=narrow)
    given = rows(12)
    log.append("visits", 0, pa.Table.from_pylist(given, narrow))
    jobs.run(windowed())
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))


def test_an_output_topic_of_another_schema_is_refused_at_the_start(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    append(log, rows(5))
    log.create_topic("counts", schema=VISITS)
    with pytest.raises(SchemaError, match="OUTPUT_SCHEMA"):
        jobs.run(windowed())


def test_a_topic_deleted_under_the_program_or_replaced_stops_it(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    append(log, rows(20))
    query = jobs.start(windowed())
    eventually(lambda: query.progress is not None)
    log.delete_topic("visits")
    with pytest.raises(RunError, match="TOPIC_MISSING") as caught:
        query.await_end(timedelta(seconds=60))
    assert_plain(caught.value)
    # The new one has as many records: it is another topic all the same.
    append(log, rows(20, first=20))
    with pytest.raises(TopicError, match="TOPIC_REPLACED"):
        jobs.run(windowed())
    fresh = replace(jobs, checkpoint=jobs.checkpoint.with_name("fresh"))
    live = fresh.start(windowed())
    eventually(lambda: live.progress is not None)
    log.delete_topic("visits")
    append(log, rows(20, first=40))
    with pytest.raises(RunError, match=r"TOPIC_(REPLACED|MISSING)"):
        live.await_end(timedelta(seconds=60))


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
