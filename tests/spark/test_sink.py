from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.murmur2 import partition_of_key
from penstock.log.port import ReadLimit
from penstock.spark.failure import run_error
from tests.spark.conftest import VIEWS, values
from tests.spark.pipes import Pipes

pytestmark = pytest.mark.spark

ALL = [*range(150), *range(1_000_000, 1_000_150)]


def test_a_stream_writes_each_row_once(views: EmbeddedLog, pipes: Pipes, home: Path) -> None:
    views.create_topic("copy", partitions=3, schema=VIEWS)
    pipes.run(pipes.stream("views", maxRowsPerBatch=100).select("userid", "n"), topic="copy")
    assert values(pipes.table("copy")) == ALL
    assert not list((home / "staging").rglob("*.arrows"))


def test_rows_go_to_the_partition_of_their_key_in_their_order(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    views.create_topic("copy", partitions=4, schema=VIEWS)
    pipes.run(pipes.stream("views").select("_key", "userid", "n"), topic="copy")
    rows = pipes.table("copy").orderBy("_partition", "_offset").collect()
    assert len(rows) == 300
    for row in rows:
        assert row["_partition"] == partition_of_key(bytes(row["_key"]), 4)
    for key in {bytes(row["_key"]) for row in rows}:
        for source in (0, 1):
            numbers = [
                row["n"] for row in rows if row["_key"] == key and row["n"] // 1_000_000 == source
            ]
            assert numbers == sorted(numbers)


def test_a_row_may_name_its_partition_time_headers_and_tombstone(
    log: EmbeddedLog, spark: SparkSession, pipes: Pipes
) -> None:
    log.create_topic("views", partitions=3, schema=VIEWS)
    frame = spark.sql(
        "select 2 as _partition, 'k' as _key, timestamp_millis(5000) as _timestamp,"
        " array(named_struct('key', 'h', 'value', cast('x' as binary))) as _headers,"
        " true as _deleted, cast(null as string) as userid, cast(null as bigint) as n"
    )
    _write(frame, pipes, topic="views")
    row = pipes.table("views").collect()[0]
    assert (row["_partition"], row["_key"], row["_deleted"], row["n"]) == (2, b"k", True, None)
    assert [tuple(header) for header in row["_headers"]] == [("h", b"x")]
    chunk = log.read("views", 2, 0, ReadLimit())
    assert chunk.rows.column("_timestamp").to_pylist() == [5000]


def test_one_query_writes_several_topics_chosen_by_row(views: EmbeddedLog, pipes: Pipes) -> None:
    views.create_topic("even", partitions=2, schema=VIEWS)
    views.create_topic("odd", schema=pa.schema([("n", pa.int64()), ("half", pa.float64())]))
    stream = pipes.stream("views", maxRowsPerBatch=100).selectExpr(
        "if(n % 2 = 0, 'even', 'odd') as _topic",
        "n",
        "if(n % 2 = 0, userid, null) as userid",
        "if(n % 2 = 1, n / 2, null) as half",
    )
    pipes.run(stream)
    assert values(pipes.table("even")) == [n for n in ALL if n % 2 == 0]
    assert values(pipes.table("odd")) == [n for n in ALL if n % 2 == 1]
    assert pipes.table("odd").where("half != n / 2").count() == 0


def test_a_topic_without_schema_takes_bytes_or_text(
    log: EmbeddedLog, spark: SparkSession, pipes: Pipes
) -> None:
    log.create_topic("raw")
    _write(spark.sql("select 'k' as _key, 'text' as value"), pipes, topic="raw")
    _write(spark.sql("select cast('bytes' as binary) as value"), pipes, topic="raw")
    rows = pipes.table("raw").orderBy("_offset").collect()
    assert [(row["_key"], row["value"]) for row in rows] == [(b"k", b"text"), (None, b"bytes")]


def test_a_batch_write_is_seen_whole(views: EmbeddedLog, pipes: Pipes) -> None:
    views.create_topic("copy", partitions=2, schema=VIEWS)
    _write(pipes.table("views").select("_partition", "userid", "n"), pipes, topic="copy")
    assert values(pipes.table("copy")) == ALL
    failing = pipes.table("views").selectExpr("userid", "assert_true(n < 1000100) is null as n")
    with pytest.raises(RunError):
        _write(failing.selectExpr("userid", "cast(n as bigint) n"), pipes, topic="copy")
    assert values(pipes.table("copy")) == ALL


def test_rows_without_time_have_the_time_of_the_write(
    log: EmbeddedLog, spark: SparkSession, pipes: Pipes
) -> None:
    log.create_topic("views", schema=VIEWS)
    before = datetime.now(UTC).timestamp()
    _write(spark.sql("select 'u' as userid, 1L as n"), pipes, topic="views")
    stamp = log.read("views", 0, 0, ReadLimit()).rows.column("_timestamp")[0].as_py() / 1000
    assert before - 1 <= stamp <= datetime.now(UTC).timestamp()


@pytest.mark.parametrize(
    ("query", "options", "code"),
    [
        ("select 1L as n", {}, "SINK_TOPIC"),
        ("select 1L as n", {"topic": "nowhere"}, "TOPIC_MISSING"),
        ("select 1L as m", {"topic": "views"}, "COLUMN_UNKNOWN"),
        ("select 'x' as n", {"topic": "views"}, "COLUMN_TYPE"),
        ("select 9 as _partition, 1L as n", {"topic": "views"}, "ROW_PARTITION"),
        ("select cast(null as string) as _topic, 1L as n", {}, "ROW_TOPIC"),
        ("select 'views' as _topic, 1L as n, 2 as m", {}, "COLUMN_UNKNOWN"),
        ("select 1L as n", {"topic": "views", "toppic": "x"}, "FORMAT_OPTION"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_written(
    log: EmbeddedLog,
    spark: SparkSession,
    pipes: Pipes,
    query: str,
    options: dict[str, str],
    code: str,
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    with pytest.raises(RunError, match=code):
        _write(spark.sql(query), pipes, **options)
    assert [log.bounds("views", partition).end for partition in range(2)] == [0, 0]


def test_a_topic_is_never_overwritten(log: EmbeddedLog, spark: SparkSession, pipes: Pipes) -> None:
    log.create_topic("views", schema=VIEWS)
    with pytest.raises(RunError, match="SINK_OVERWRITE"):
        _write(spark.sql("select 1L as n"), pipes, mode="overwrite", topic="views")


def test_the_users_line_is_named_when_their_function_fails(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    views.create_topic("copy", schema=VIEWS)

    def divide(batches: object) -> object:
        for batch in batches:  # type: ignore[attr-defined]
            1 / 0  # noqa: B018
            yield batch

    stream = pipes.stream("views", columns="n").mapInArrow(divide, "n bigint")  # type: ignore[arg-type]
    with pytest.raises(RunError) as caught:
        _run(stream, pipes)
    assert caught.value.code == "SPARK_QUERY_FAILED"
    assert "ZeroDivisionError: division by zero" in caught.value.fact
    assert "test_sink.py:" in caught.value.fact
    assert "\n" not in caught.value.fact


def _write(frame: DataFrame, pipes: Pipes, *, mode: str = "append", **options: str) -> None:
    writer = frame.write.format("penstock").mode(mode).options(home=str(pipes.home), **options)
    try:
        writer.save()
    except Exception as error:
        raise run_error(error) from error


def _run(frame: DataFrame, pipes: Pipes) -> None:
    try:
        pipes.run(frame, topic="copy")
    except Exception as error:
        raise run_error(error) from error
