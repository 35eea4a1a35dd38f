from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest

from penstock.errors import SchemaError, TopicError
from penstock.log.port import Capability, Log
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.contract.log.adapters import OpenLog


def test_a_created_topic_is_listed_and_described_by_every_handle(
    log: Log, open_again: OpenLog
) -> None:
    config = TopicConfig(retention=timedelta(days=7), fsync="os", compression="lz4")
    log.create_topic("clicks", partitions=3, config=config)
    log.create_topic("avg")
    other = open_again()
    assert other.topics() == ("avg", "clicks")
    assert other.topic("clicks").partitions == 3
    assert other.topic("clicks").config == config


def test_an_existing_name_is_refused(log: Log) -> None:
    log.create_topic("clicks")
    with pytest.raises(TopicError, match="TOPIC_EXISTS"):
        log.create_topic("clicks")


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "x" * 250, "é"])
def test_a_name_that_could_not_be_stored_is_refused(log: Log, name: str) -> None:
    with pytest.raises(TopicError, match="TOPIC_NAME"):
        log.create_topic(name)
    assert log.topics() == ()


def test_a_topic_without_partitions_is_refused(log: Log) -> None:
    with pytest.raises(TopicError, match="PARTITION_COUNT"):
        log.create_topic("clicks", partitions=0)


def test_a_missing_topic_is_named_and_corrected(log: Log) -> None:
    log.create_topic("pageviews")
    with pytest.raises(TopicError, match="TOPIC_MISSING") as caught:
        log.topic("pageview")
    assert caught.value.hint == 'Did you mean "pageviews"?'
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        log.append("pagevews", 0, rows_of_bytes([b"x"]))


def test_a_partition_out_of_range_is_refused(log: Log) -> None:
    log.create_topic("clicks", partitions=3)
    for number in (-1, 3):
        with pytest.raises(TopicError, match="PARTITION_RANGE"):
            log.append("clicks", number, rows_of_bytes([b"x"]))


def test_settings_change_and_the_partitions_stay(log: Log, open_again: OpenLog) -> None:
    topic = log.create_topic("clicks", partitions=2)
    log.configure_topic("clicks", topic.config.with_settings(retention_bytes=10))
    assert open_again().topic("clicks").config.retention_bytes == 10
    assert open_again().topic("clicks").partitions == 2


def test_a_misspelt_setting_is_named_and_corrected() -> None:
    with pytest.raises(TopicError, match="TOPIC_SETTING") as caught:
        TopicConfig().with_settings(retentoin=timedelta(days=1))
    assert caught.value.hint == 'Did you mean "retention"?'
    with pytest.raises(TopicError, match="TOPIC_SETTING"):
        TopicConfig().with_settings(fsync="sometimes")
    with pytest.raises(TopicError, match="TOPIC_SETTING"):
        TopicConfig(segment_bytes=0)


def test_a_deleted_topic_is_gone_for_those_who_have_it_open(log: Log, open_again: OpenLog) -> None:
    other = open_again()
    log.create_topic("clicks")
    other.append("clicks", 0, rows_of_bytes([b"x"]))
    log.delete_topic("clicks")
    assert other.topics() == ()
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        other.append("clicks", 0, rows_of_bytes([b"never acknowledged"]))


def test_a_topic_created_anew_begins_at_zero(log: Log) -> None:
    log.create_topic("clicks")
    log.append("clicks", 0, rows_of_bytes([b"x"]))
    log.delete_topic("clicks")
    log.create_topic("clicks")
    assert log.append("clicks", 0, rows_of_bytes([b"y"])).base_offset == 0


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (pa.schema([("_key", pa.binary())]), "COLUMN_NAME"),
        (pa.schema([("_partition", pa.int32())]), "COLUMN_NAME"),
        (pa.schema([("a", pa.int64()), ("a", pa.int64())]), "COLUMN_NAME"),
        (pa.schema([("a", pa.dictionary(pa.int8(), pa.string()))]), "COLUMN_TYPE"),
    ],
)
def test_a_schema_that_cannot_be_stored_is_refused(log: Log, schema: pa.Schema, code: str) -> None:
    with pytest.raises(SchemaError, match=code):
        log.create_topic("typed", schema=schema)


def test_an_adapter_names_what_it_has_beyond_the_common_promise(log: Log) -> None:
    assert Capability.TRANSACTIONS in log.capabilities
    # Columns are stored by those who keep their files themselves, and only those are alone.
    alone = Capability.TYPED_COLUMNS in log.capabilities
    assert (Capability.REPLICATION in log.capabilities) is not alone
