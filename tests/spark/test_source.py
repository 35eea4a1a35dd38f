from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, TimestampType

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.spark.failure import run_error
from penstock.spark.progress import progress_of
from tests.spark.conftest import VIEWS, values, view_rows
from tests.spark.pipes import Pipes

pytestmark = pytest.mark.spark

ALL = [*range(150), *range(1_000_000, 1_000_150)]


def test_a_topic_is_a_table_of_its_history(views: EmbeddedLog, pipes: Pipes) -> None:
    table = pipes.table("views")
    assert table.columns == [
        "_partition", "_offset", "_timestamp", "_key", "_headers", "_deleted", "userid", "n",
    ]  # fmt: skip
    rows = table.orderBy("_partition", "_offset").collect()
    assert [row["n"] for row in rows] == ALL
    assert [row["_offset"] for row in rows] == [*range(150), *range(150)]
    first = rows[0]
    assert first["_key"] == b"u0"
    assert first["userid"] == "u0"
    assert table.selectExpr("min(unix_millis(_timestamp))").collect()[0][0] == 1_000_000


def test_a_stream_and_a_table_of_the_same_topic_have_the_same_rows(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    batches = pipes.collect(pipes.stream("views", maxRowsPerBatch=70))
    assert len(batches) == 5
    assert sorted(n for batch in batches for n in batch) == ALL == values(pipes.table("views"))


def test_a_topic_without_schema_gives_bytes_and_headers(log: EmbeddedLog, pipes: Pipes) -> None:
    log.create_topic("raw")
    rows = rows_of_bytes([b"x", None], keys=[b"k", None], headers=[(("h", b"1"), ("i", None)), ()])
    log.append("raw", 0, rows)
    first, second = pipes.table("raw").orderBy("_offset").collect()
    assert (first["_key"], first["value"]) == (b"k", b"x")
    assert [tuple(header) for header in first["_headers"]] == [("h", b"1"), ("i", None)]
    assert (second["_key"], second["value"], second["_headers"]) == (None, None, None)


def test_arrow_types_that_spark_lacks_are_widened(log: EmbeddedLog, pipes: Pipes) -> None:
    schema = pa.schema(
        [
            ("small", pa.uint8()),
            ("large", pa.uint64()),
            ("word", pa.large_string()),
            ("at", pa.timestamp("ns", "UTC")),
            ("many", pa.list_(pa.uint16())),
            ("pair", pa.struct([("left", pa.string()), ("right", pa.float16())])),
        ]
    )
    log.create_topic("odd", schema=schema)
    row = {
        "small": 255, "large": 2**64 - 1, "word": "w", "at": datetime(2026, 1, 2, tzinfo=UTC),
        "many": [65535], "pair": {"left": "l", "right": 0.5},
    }  # fmt: skip
    log.append("odd", 0, pa.Table.from_pylist([row], schema))
    frame = pipes.table("odd", columns="small,large,word,at,many,pair")
    found = frame.collect()[0]
    assert (found["small"], int(found["large"]), found["word"]) == (255, 2**64 - 1, "w")
    assert (found["many"], found["pair"]["left"], found["pair"]["right"]) == ([65535], "l", 0.5)
    assert frame.schema["at"].dataType == TimestampType()


def test_only_the_columns_asked_for_are_read(views: EmbeddedLog, pipes: Pipes) -> None:
    narrow = pipes.table("views", columns="n, _offset")
    assert narrow.columns == ["n", "_offset"]
    assert values(narrow) == ALL
    assert pipes.table("views", columns="_partition").count() == 300


def test_a_schema_of_the_reader_picks_and_casts_columns(
    views: EmbeddedLog, pipes: Pipes, spark: SparkSession
) -> None:
    reader = spark.read.format("penstock").options(home=str(pipes.home), topic="views")
    frame = reader.schema("n string, userid string").load()
    assert frame.schema["n"].dataType == StringType()
    assert sorted(int(row["n"]) for row in frame.collect()) == ALL


def test_conditions_on_partition_and_offset_are_kept_by_the_read(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    part = pipes.table("views").where("_partition = 1 and _offset >= 10 and _offset < 13")
    assert values(part) == [1_000_010, 1_000_011, 1_000_012]
    assert part.rdd.getNumPartitions() == 1
    plan = str(part._jdf.queryExecution().executedPlan())
    assert "Filter (" not in plan
    assert pipes.table("views").where("_partition in (5)").count() == 0


def test_conditions_on_time_are_kept_by_the_read(views: EmbeddedLog, pipes: Pipes) -> None:
    at = "timestamp_millis(1010000)"
    until = "timestamp_millis(1012000)"
    part = pipes.table("views", columns="n").where("n >= 0")
    assert values(part) == ALL
    timed = pipes.table("views").where(f"_timestamp > {at} and _timestamp <= {until}")
    assert values(timed) == [11, 12, 1_000_011, 1_000_012]
    assert "Filter (" not in str(timed._jdf.queryExecution().executedPlan())


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("beginning", ALL),
        ("latest", []),
        ("140", [*range(140, 150), *range(1_000_140, 1_000_150)]),
        ("1970-01-01T00:19:05Z", [*range(145, 150), *range(1_000_145, 1_000_150)]),
        ('{"0": 149, "1": "latest"}', [149]),
        ('{"0": "latest", "1": "1970-01-01 00:19:08.001"}', [1_000_149]),
    ],
)
def test_a_read_starts_where_it_is_told(
    views: EmbeddedLog, pipes: Pipes, start: str, expected: list[int]
) -> None:
    assert values(pipes.table("views", start=start)) == expected
    batches = pipes.collect(pipes.stream("views", start=start))
    assert sorted(n for batch in batches for n in batch) == expected


def test_ranges_that_end_where_the_next_begins_have_each_record_once(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    middle = "1970-01-01T00:18:00Z"
    before = values(pipes.table("views", stop=middle))
    after = values(pipes.table("views", start=middle))
    assert sorted([*before, *after]) == ALL
    assert len(before) == 160


def test_a_batch_takes_no_more_rows_than_allowed(views: EmbeddedLog, pipes: Pipes) -> None:
    batches = pipes.collect(pipes.stream("views", maxRowsPerBatch=100))
    assert [len(batch) for batch in batches] == [100, 100, 100]


def test_a_batch_spans_no_more_seconds_than_allowed(views: EmbeddedLog, pipes: Pipes) -> None:
    batches = pipes.collect(pipes.stream("views", maxSecondsPerBatch=60))
    assert [len(batch) for batch in batches] == [120, 120, 60]
    assert batches[0] == [*range(60), *range(1_000_000, 1_000_060)]


def test_a_batch_takes_about_as_many_bytes_as_allowed(log: EmbeddedLog, pipes: Pipes) -> None:
    log.create_topic("wide", schema=pa.schema([("n", pa.int64()), ("text", pa.string())]))
    log.append("wide", 0, pa.table({"n": range(100), "text": ["x" * 1000] * 100}))
    batches = pipes.collect(pipes.stream("wide", maxBytesPerBatch=40_000))
    assert len(batches) == 3
    assert sorted(n for batch in batches for n in batch) == list(range(100))


def test_available_now_leaves_what_comes_later(views: EmbeddedLog, pipes: Pipes) -> None:
    seen: list[int] = []

    def gather(frame: object, _: int) -> None:
        views.append("views", 0, view_rows(10, 0, first=500))
        seen.extend(row["n"] for row in frame.collect())  # type: ignore[attr-defined]

    stream = pipes.stream("views", maxRowsPerBatch=100)
    writer = stream.writeStream.foreachBatch(gather).trigger(availableNow=True)
    writer.option("checkpointLocation", str(pipes.checkpoint)).start().awaitTermination()
    assert sorted(seen) == ALL


def test_progress_tells_how_far_behind_each_partition_is(views: EmbeddedLog, pipes: Pipes) -> None:
    views.create_topic("copy", schema=VIEWS)
    stream = pipes.stream("views", maxRowsPerBatch=100).select("userid", "n")
    query = pipes.run(stream, topic="copy")
    reports = [progress_of(report) for report in query.recentProgress]
    assert [(report.batch, report.rows, report.lag) for report in reports] == [
        (0, 100, 200), (1, 100, 100), (2, 100, 0),
    ]  # fmt: skip
    assert reports[0].lag_by_partition == {
        TopicPartition("views", 0): 100,
        TopicPartition("views", 1): 100,
    }
    assert reports[0].duration.total_seconds() > 0
    assert reports[0].query_id == str(query.id)


def test_a_group_has_the_offsets_of_the_query(views: EmbeddedLog, pipes: Pipes) -> None:
    pipes.collect(pipes.stream("views", group="spark", maxRowsPerBatch=200))
    pipes.collect(pipes.stream("views", group="spark", maxRowsPerBatch=200))
    committed = views.committed("spark")
    # Spark tells a source of a batch's end when it begins the next one.
    assert set(committed) == {TopicPartition("views", 0), TopicPartition("views", 1)}
    assert all(100 <= offset <= 150 for offset in committed.values())


def test_a_long_backlog_is_split_and_keeps_its_order(log: EmbeddedLog, pipes: Pipes) -> None:
    log.create_topic("long", schema=pa.schema([("n", pa.int64())]))
    for first in range(0, 900_000, 100_000):
        log.append("long", 0, pa.table({"n": range(first, first + 100_000)}))
    table = pipes.table("long", columns="n", minTasks=4)
    assert table.rdd.getNumPartitions() == 4
    assert table.selectExpr("count(*)", "sum(n)").collect()[0][:] == (900_000, 404999550000)
    log.create_topic("copy", schema=pa.schema([("n", pa.int64())]))
    pipes.run(pipes.stream("long", columns="n", minTasks=4), topic="copy")
    assert pipes.table("copy").where("n != _offset").count() == 0


def test_only_committed_records_are_read(views: EmbeddedLog, pipes: Pipes) -> None:
    transaction = views.transaction("t")
    transaction.begin()
    transaction.append("views", 0, view_rows(5, 0, first=900))
    assert values(pipes.table("views")) == ALL
    transaction.commit()
    assert values(pipes.table("views")) == sorted([*ALL, *range(900, 905)])
    transaction.begin()
    transaction.append("views", 0, view_rows(5, 0, first=950))
    transaction.abort()
    assert values(pipes.table("views")) == sorted([*ALL, *range(900, 905)])
    transaction.close()


def test_a_topic_created_anew_is_not_taken_for_the_old_one(
    views: EmbeddedLog, pipes: Pipes
) -> None:
    views.create_topic("copy", schema=VIEWS)
    pipes.run(pipes.stream("views").select("n"), topic="copy")
    views.delete_topic("views")
    views.create_topic("views", partitions=2, schema=VIEWS)
    with pytest.raises(RunError, match="TOPIC_REPLACED"):
        _run(pipes, "views", "copy")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"topic": "vews"}, "TOPIC_MISSING"),
        ({"topic": "views", "strat": "latest"}, "FORMAT_OPTION"),
        ({"topic": "views", "start": "yesterday"}, "POSITION_TEXT"),
        ({"topic": "views", "start": "151"}, "OFFSET_RANGE"),
        ({"topic": "views", "start": json.dumps({"7": 0})}, "POSITION_PARTITION"),
        ({"topic": "views", "columns": "usrid"}, "COLUMN_UNKNOWN"),
    ],
)
def test_a_mistake_is_named_with_its_code(
    views: EmbeddedLog, spark: SparkSession, pipes: Pipes, options: dict[str, str], code: str
) -> None:
    with pytest.raises(RunError, match=code):
        _count(spark, pipes, options)


def _count(spark: SparkSession, pipes: Pipes, options: dict[str, str]) -> int:
    try:
        reader = spark.read.format("penstock").options(home=str(pipes.home), **options)
        return reader.load().count()
    except Exception as error:
        raise run_error(error) from error


def _run(pipes: Pipes, source: str, target: str) -> None:
    try:
        pipes.run(pipes.stream(source).select("n"), topic=target)
    except Exception as error:
        raise run_error(error) from error
