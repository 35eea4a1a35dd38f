from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import SchemaError, TopicError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.murmur2 import partition_of_key
from penstock.spark.route import Router
from tests.spark.conftest import VIEWS


@pytest.fixture
def topics(log: EmbeddedLog) -> EmbeddedLog:
    log.create_topic("views", partitions=4, schema=VIEWS)
    log.create_topic("raw", partitions=2)
    return log


def test_keyed_rows_go_where_a_producer_would_send_them(topics: EmbeddedLog) -> None:
    keys = [f"k{n}".encode() for n in range(100)]
    batch = pa.record_batch({"_key": keys, "n": range(100)})
    seen: dict[int, int] = {}
    for topic, partition, rows in Router(topics, topic="views").route(batch):
        assert topic == "views"
        numbers = rows.column("n").to_pylist()
        assert numbers == sorted(numbers)
        seen.update(dict.fromkeys(numbers, partition))
    assert seen == {n: partition_of_key(key, 4) for n, key in enumerate(keys)}


def test_rows_without_a_key_are_spread_and_none_is_lost(topics: EmbeddedLog) -> None:
    router = Router(topics, topic="raw")
    batch = pa.record_batch({"value": [b"%05d" % number * 2000 for number in range(500)]})
    routed = list(router.route(batch))
    assert {item.partition for item in routed} == {0, 1}
    sent = [value for item in routed for value in item.rows.column("value").to_pylist()]
    assert sent == batch.column("value").to_pylist()


def test_a_partition_given_wins_over_the_key_and_null_leaves_it_to_the_key(
    topics: EmbeddedLog,
) -> None:
    batch = pa.record_batch(
        {"_partition": pa.array([3, None], pa.int32()), "_key": [b"a", b"b"], "n": [1, 2]}
    )
    routed = Router(topics, topic="views").route(batch)
    found = {item.rows.column("n")[0].as_py(): item.partition for item in routed}
    assert found == {1: 3, 2: partition_of_key(b"b", 4)}


def test_rows_name_their_topic_and_leave_the_columns_of_others_empty(topics: EmbeddedLog) -> None:
    batch = pa.record_batch(
        {
            "_topic": ["views", None, "views"],
            "n": [1, None, 3],
            "value": pa.array([None, b"v", None], pa.binary()),
        }
    )
    routed = list(Router(topics, topic="raw").route(batch))
    assert sorted((item.topic, item.rows.num_rows) for item in routed) in (
        [("raw", 1), ("views", 2)],
        [("raw", 1), ("views", 1), ("views", 1)],
    )


@pytest.mark.parametrize("partition", [-1, 4])
def test_a_partition_out_of_range_is_refused(topics: EmbeddedLog, partition: int) -> None:
    batch = pa.record_batch({"_partition": pa.array([partition], pa.int32()), "n": [1]})
    with pytest.raises(SchemaError, match="ROW_PARTITION"):
        list(Router(topics, topic="views").route(batch))


def test_a_row_without_topic_is_refused_where_there_is_no_other(topics: EmbeddedLog) -> None:
    batch = pa.record_batch({"_topic": pa.array([None], pa.string()), "n": [1]})
    with pytest.raises(TopicError, match="ROW_TOPIC"):
        list(Router(topics, topic="").route(batch))


def test_a_value_for_a_column_of_another_topic_is_refused(topics: EmbeddedLog) -> None:
    batch = pa.record_batch({"_topic": ["views"], "n": [1], "value": [b"v"]})
    with pytest.raises(SchemaError, match="COLUMN_UNKNOWN"):
        list(Router(topics, topic="").route(batch))


def test_no_rows_are_no_work(topics: EmbeddedLog) -> None:
    empty = pa.record_batch({"n": pa.array([], pa.int64())})
    assert list(Router(topics, topic="views").route(empty)) == []
