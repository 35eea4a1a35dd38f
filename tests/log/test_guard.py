from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.errors import RecordError, TopicError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import Log, ReadLimit
from penstock.log.producer import Producer
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

NO_SHOUTING = f"{__name__}:NoShouting"


closed: list[bytes] = []


class NoShouting:
    """Refuses values that have its argument in them."""

    def __init__(self, log: Log, argument: str) -> None:
        self._log = log
        self._word = argument.encode() or b"!"

    def close(self) -> None:
        closed.append(self._word)

    def check(self, topic: str, rows: pa.RecordBatch) -> None:
        if any(self._word in (value.as_py() or b"") for value in rows.column("value")):
            raise RecordError("SCHEMA_REFUSED", f'topic "{topic}" is quiet', hint="")


@pytest.fixture
def log() -> EmbeddedLog:
    log = EmbeddedLog(MemoryStorage())
    log.create_topic("quiet", config=TopicConfig(guard=NO_SHOUTING))
    log.create_topic("loud")
    return log


def test_rows_that_a_guard_refuses_are_not_written(log: EmbeddedLog) -> None:
    log.append("quiet", 0, rows_of_bytes([b"hello", None]))
    with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
        log.append("quiet", 0, rows_of_bytes([b"fine", b"hey!"]))
    assert log.bounds("quiet", 0).end == 2
    log.append("loud", 0, rows_of_bytes([b"hey!"]))


def test_a_transaction_and_a_producer_pass_the_guard_too(log: EmbeddedLog) -> None:
    transaction = log.transaction("t")
    transaction.begin()
    with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
        transaction.append("quiet", 0, rows_of_bytes([b"hey!"]))
    transaction.close()
    with Producer(log) as producer:
        producer.send("quiet", b"hey!")
        with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
            producer.flush()
    assert log.read("quiet", 0, 0, ReadLimit()).rows.num_rows == 0


def test_a_guard_is_told_its_argument_and_can_be_taken_away(log: EmbeddedLog) -> None:
    log.configure_topic("quiet", TopicConfig(guard=f"{NO_SHOUTING}(?)"))
    log.append("quiet", 0, rows_of_bytes([b"hey!"]))
    with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
        log.append("quiet", 0, rows_of_bytes([b"what?"]))
    log.configure_topic("quiet", TopicConfig())
    log.append("quiet", 0, rows_of_bytes([b"what?"]))


@pytest.mark.parametrize("name", ["nothing", "no.such.module:Guard", f"{__name__}:Nobody"])
def test_a_guard_that_is_not_there_keeps_a_topic_from_being_made(
    log: EmbeddedLog, name: str
) -> None:
    with pytest.raises(TopicError, match="GUARD_MISSING"):
        log.create_topic("new", config=TopicConfig(guard=name))
    assert "new" not in log.topics()


def test_guards_go_with_their_log(log: EmbeddedLog) -> None:
    closed.clear()
    log.append("quiet", 0, rows_of_bytes([b"hello"]))
    log.close()
    log.close()
    assert closed == [b"!"]


def test_typed_columns_have_no_guard(log: EmbeddedLog) -> None:
    schema = pa.schema([("a", pa.int64())])
    with pytest.raises(TopicError, match="TOPIC_SETTING"):
        log.create_topic("typed", schema=schema, config=TopicConfig(guard=NO_SHOUTING))
