from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import RecordError, TopicError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import ReadLimit
from penstock.log.prepared import PreparingLog
from penstock.log.topic import TopicConfig

SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])


def rows_of(*numbers: int) -> pa.Table:
    texts = [f"text {number}" for number in numbers]
    return pa.table(
        {"_timestamp": [1000 + number for number in numbers], "n": numbers, "text": texts}
    )


@pytest.fixture
def log() -> EmbeddedLog:
    made = EmbeddedLog(MemoryStorage())
    made.create_topic("plain", schema=SCHEMA)
    made.create_topic("packed", schema=SCHEMA, config=TopicConfig(compression="zstd"))
    return made


@pytest.mark.parametrize("topic", ["plain", "packed"])
def test_prepared_rows_are_read_as_if_they_had_been_appended(log: EmbeddedLog, topic: str) -> None:
    assert isinstance(log, PreparingLog)
    log.append(topic, 0, rows_of(1, 2))
    prepared = log.prepare(topic, rows_of(3, 4, 5))
    assert prepared.num_rows == 3
    done = log.append(topic, 0, prepared)
    assert (done.base_offset, done.last_offset) == (2, 4)
    found = log.read(topic, 0, 0, ReadLimit()).rows
    assert found["n"].to_pylist() == [1, 2, 3, 4, 5]
    assert found["_timestamp"].to_pylist() == [1001, 1002, 1003, 1004, 1005]
    assert not log.verify()


def test_prepared_rows_of_a_transaction_are_seen_with_the_rest_of_it(log: EmbeddedLog) -> None:
    transaction = log.transaction("writer")
    transaction.begin()
    transaction.append("plain", 0, rows_of(1))
    transaction.append("plain", 0, log.prepare("plain", rows_of(2, 3)))
    transaction.append("plain", 0, rows_of(4))
    assert log.read("plain", 0, 0, ReadLimit()).rows.num_rows == 0
    transaction.commit()
    transaction.close()
    assert log.read("plain", 0, 0, ReadLimit()).rows["n"].to_pylist() == [1, 2, 3, 4]


def test_rows_prepared_for_a_topic_that_is_gone_are_refused(log: EmbeddedLog) -> None:
    prepared = log.prepare("plain", rows_of(1))
    log.delete_topic("plain")
    log.create_topic("plain", schema=SCHEMA)
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        log.append("plain", 0, prepared)
    assert log.bounds("plain", 0).end == 0


def test_what_cannot_be_appended_cannot_be_prepared(log: EmbeddedLog) -> None:
    log.create_topic("small", config=TopicConfig(max_record_bytes=10))
    with pytest.raises(RecordError, match="RECORD_TOO_LARGE"):
        log.prepare("small", pa.table({"value": [b"short", b"much too long"]}))
