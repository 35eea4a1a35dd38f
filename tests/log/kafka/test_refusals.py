"""What goes wrong on a cluster, as errors that come within their time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.errors import ConfigError, LogError, OffsetError, RecordError, SchemaError, TopicError
from penstock.log.kafka import clients, writer
from penstock.log.kafka.failures import coded
from penstock.log.kafka.log import KafkaLog
from penstock.log.kafka.properties import kafka_place
from penstock.log.kafka.transaction import KafkaTransaction
from penstock.log.open import open_log
from penstock.log.port import Log, ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from tests.kafka.emptied import EmptiedBroker

DOORS: dict[str, Callable[[Log], object]] = {
    "topics": lambda log: log.topics(),
    "create": lambda log: log.create_topic("clicks"),
    "append": lambda log: log.append("clicks", 0, rows_of_bytes([b"x"])),
    "read": lambda log: log.read("clicks", 0, 0, ReadLimit()),
    "wait": lambda log: log.wait({TopicPartition("clicks", 0): 0}, 60),
    "transaction": lambda log: log.transaction("job"),
    "join": lambda log: log.join("readers", ["clicks"]),
    "groups": lambda log: log.groups(),
    "committed": lambda log: log.committed("readers"),
}
"""What asks brokers something."""


@pytest.mark.parametrize(
    ("stopped", "heard"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (KafkaException(KafkaError(KafkaError._TRANSPORT)), LogError),
        (ValueError("of its own"), SystemError),
        (None, SystemError),
    ],
)
def test_what_stopped_a_function_in_c_is_heard_instead_of_its_guise(
    stopped: BaseException | None, heard: type[BaseException]
) -> None:
    asked = clients.Clients(kafka_place("kafka://127.0.0.1:1", {}))
    with pytest.raises(heard), asked.errors("asking for offsets"):
        raise SystemError("returned a result with an exception set") from stopped


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KafkaError._ALL_BROKERS_DOWN, "KAFKA_UNREACHABLE"),
        (KafkaError._DESTROY_BROKER, "KAFKA_UNREACHABLE"),
        (KafkaError._NOENT, "KAFKA_TIMEOUT"),
        (KafkaError.LEADER_NOT_AVAILABLE, "KAFKA_TIMEOUT"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "KAFKA_DENIED"),
        (KafkaError._AUTHENTICATION, "KAFKA_DENIED"),
        (KafkaError.COORDINATOR_NOT_AVAILABLE, "KAFKA_TIMEOUT"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, "TOPIC_MISSING"),
        (KafkaError.MSG_SIZE_TOO_LARGE, "RECORD_TOO_LARGE"),
        (KafkaError._FENCED, "WRITER_FENCED"),
        (KafkaError.ILLEGAL_GENERATION, "GROUP_FENCED"),
        (KafkaError.NON_EMPTY_GROUP, "GROUP_ACTIVE"),
        (KafkaError.POLICY_VIOLATION, "KAFKA_REFUSED"),
    ],
)
def test_an_error_of_kafka_has_a_code_and_a_hint(error: int, code: str) -> None:
    made = coded("doing something", KafkaError(error))
    assert made.code == code
    assert made.hint


@pytest.mark.parametrize(
    ("door", "address"),
    [*((door, "127.0.0.1:1") for door in DOORS), ("groups", "nowhere.invalid:9092")],
)
def test_brokers_that_are_not_there_are_told_within_the_time(
    door: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PATIENCE", 1.0)
    with open_log(f"kafka://{address}") as log, pytest.raises(LogError, match="KAFKA_UNREACHABLE"):
        DOORS[door](log)


def test_somebody_who_listens_and_says_nothing_is_told_within_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"kafka://127.0.0.1:{mute.getsockname()[1]}"
        with open_log(address) as log, pytest.raises(LogError, match="KAFKA_"):
            log.topics()


@pytest.mark.slow
@pytest.mark.parametrize("door", ["topics", "read", "transaction"])
def test_a_misspelt_property_is_named_as_a_setting(door: str) -> None:
    place = kafka_place(
        "kafka://127.0.0.1:1", {"securty.protocol": "SSL", "sasl.password": "quiet"}
    )
    log = KafkaLog(place)
    with pytest.raises(ConfigError, match=r'KAFKA_SETTING.*"securty\.protocol"') as caught:
        DOORS[door](log)
    assert "quiet" not in str(caught.value)
    log.close()


def test_who_cannot_be_reached_is_named() -> None:
    made = coded("listing topics", KafkaError(KafkaError._TRANSPORT), at="kafka://127.0.0.1:1")
    assert made.fact.endswith("(kafka://127.0.0.1:1)")


class TestOnABroker:
    @pytest.fixture
    def log(self, emptied_broker: EmptiedBroker) -> Iterator[KafkaLog]:
        with KafkaLog(kafka_place(emptied_broker.address, {})) as opened:
            yield opened

    def test_a_topic_that_was_deleted_is_missed_by_readers_and_writers(self, log: KafkaLog) -> None:
        log.create_topic("clicks")
        log.append("clicks", 0, rows_of_bytes([b"x"]))
        log._clients.admin.delete_topics(["clicks"])["clicks"].result()
        # The controller has decided it; the broker hears of it a moment later.
        log._catalog._until("clicks", lambda found: found is None)
        with pytest.raises(TopicError, match="TOPIC_MISSING"):
            log.append("clicks", 0, rows_of_bytes([b"y"]))
        with pytest.raises(TopicError, match="TOPIC_MISSING"):
            log.read("clicks", 0, 1, ReadLimit())

    def test_records_that_were_removed_are_outside_the_log(self, log: KafkaLog) -> None:
        log.create_topic("clicks")
        log.append("clicks", 0, rows_of_bytes([b"a", b"b", b"c"]))
        assert log.delete_records("clicks", 0, before_offset=2) == 2
        with pytest.raises(OffsetError, match="OFFSET_RANGE"):
            log.read("clicks", 0, 0, ReadLimit())
        assert log.read("clicks", 0, 2, ReadLimit()).rows["value"].to_pylist() == [b"c"]
        log.commit("readers", {})
        assert log.trim("clicks", ["nobody"]) == {0: 2}

    def test_a_record_that_the_broker_refuses_is_told(self, log: KafkaLog) -> None:
        log.create_topic("clicks", config=TopicConfig(max_record_bytes=2**21))
        log.configure_topic("clicks", TopicConfig(max_record_bytes=2**20))
        large = TopicConfig(max_record_bytes=2**24)
        stale = replace(log.topic("clicks"), config=large)
        log._catalog._known["clicks"] = (time.monotonic() + 60, stale)
        with pytest.raises(RecordError, match="RECORD_TOO_LARGE"):
            log.append("clicks", 0, rows_of_bytes([b"x" * (2**22)]))

    def test_a_value_whose_schema_is_not_there_is_told(self, log: KafkaLog) -> None:
        log.create_topic("people", schema=pa.schema([("id", pa.int64())]))
        sent = log._writer.append(
            TopicPartition("people", 0), [(b"\x00\x00\x00\x27\x0f\x02", None, 1, None)]
        )
        with pytest.raises(SchemaError, match="VALUE_DECODE"):
            log.read("people", 0, sent.base_offset, ReadLimit())

    def test_tombstones_alone_are_rows_without_columns(self, log: KafkaLog) -> None:
        log.create_topic("people", schema=pa.schema([("id", pa.int64())]))
        gone = pa.table({"id": pa.nulls(1, pa.int64()), "_key": [b"k"], "_deleted": [True]})
        log.append("people", 0, gone)
        read = log.read("people", 0, 0, ReadLimit()).rows
        assert (read["id"].to_pylist(), read["_deleted"].to_pylist()) == ([None], [True])

    def test_a_note_that_is_too_long_is_refused(self, log: KafkaLog) -> None:
        transaction = log.transaction("job")
        transaction.begin()
        with pytest.raises(RecordError, match="NOTE_TOO_LARGE"):
            transaction.commit("x" * 5000)
        transaction.close()

    def test_a_commit_without_an_answer_is_undecided_and_the_id_is_taken_anew(
        self, log: KafkaLog
    ) -> None:
        log.create_topic("clicks")
        transaction = log.transaction("job")
        transaction.begin()
        transaction.append("clicks", 0, rows_of_bytes([b"x"]))
        with pytest.raises(LogError, match="TRANSACTION_UNDECIDED"):
            transaction._decide(_no_answer)
        transaction.begin()
        transaction.append("clicks", 0, rows_of_bytes([b"y"]))
        transaction.commit("1")
        assert log.read("clicks", 0, 0, ReadLimit()).rows["value"].to_pylist() == [b"y"]
        transaction.close()
        assert isinstance(transaction, KafkaTransaction)

    def test_records_without_an_acknowledgement_may_be_there(self) -> None:
        late = writer.delivery_unknown("appending", KafkaError(KafkaError._MSG_TIMED_OUT))
        assert late.code == "DELIVERY_UNKNOWN"

    def test_what_only_files_can_answer_is_refused(self, log: KafkaLog) -> None:
        for ask in ("verify", "repair", "clean", "storage"):
            with pytest.raises(LogError, match="LOG_ELSEWHERE"):
                getattr(log, ask)(*(["clicks"] if ask == "clean" else []))


def _no_answer(_: float) -> None:
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
