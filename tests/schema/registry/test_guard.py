from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import RecordError, RegistryError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.guard import SubjectGuard
from penstock.schema.registry.naming import NamingStrategy, guard_setting
from penstock.schema.registry.registry import Registry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer
from tests.log.remote.kit import served
from tests.schema.registry.kit import record


@pytest.fixture
def log() -> Iterator[EmbeddedLog]:
    with EmbeddedLog(MemoryStorage()) as log:
        yield log


def guarded(log: EmbeddedLog, strategy: NamingStrategy) -> Registry:
    log.create_topic("orders", config=TopicConfig(guard=guard_setting(strategy)))
    return Registry(log)


def value(schema_id: int, body: bytes = b"\x02a") -> bytes:
    return struct.pack(">bI", 0, schema_id) + body


def write(log: EmbeddedLog, *values: bytes | None) -> None:
    log.append("orders", 0, rows_of_bytes(values))


def test_values_of_registered_schemas_enter_and_nulls_do(log: EmbeddedLog) -> None:
    registry = guarded(log, "topic")
    registry.register("orders-value", record("a"))
    registry.register("orders-value", record("a", b="x"))
    write(log, value(1), None, value(2), value(1, b""))
    assert log.bounds("orders", 0).end == 4


@pytest.mark.parametrize(
    "wrong",
    [b"", b"\x00", b"\x00\x00\x00\x00", b"\x01" + value(1)[1:], b'{"a": 1}', value(9), value(2)],
)
def test_a_batch_with_any_other_value_is_refused_before_the_log(
    log: EmbeddedLog, wrong: bytes
) -> None:
    registry = guarded(log, "topic")
    registry.register("orders-value", record("a"))
    registry.register("others-value", record("z"))
    with pytest.raises(RecordError, match=r"SCHEMA_REFUSED.*row 1 for topic \"orders\""):
        write(log, value(1), wrong, value(1))
    assert log.bounds("orders", 0).end == 0


def test_a_schema_is_known_as_soon_as_it_is_registered_and_no_longer(log: EmbeddedLog) -> None:
    registry = guarded(log, "topic")
    with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
        write(log, value(1))
    registry.register("orders-value", record("a"))
    write(log, value(1))
    registry.delete_subject("orders-value")
    with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
        write(log, value(1))


@pytest.mark.parametrize(
    ("strategy", "subject"), [("record", "Order"), ("topic-record", "orders-Order")]
)
def test_the_subject_follows_the_naming_strategy(
    log: EmbeddedLog, strategy: NamingStrategy, subject: str
) -> None:
    registry = guarded(log, strategy)
    registry.register(subject, record("a"))
    registry.register("orders-value", record("z", name="Other"))
    write(log, value(1))
    with pytest.raises(RecordError, match="naming strategy"):
        write(log, value(2))


def test_every_message_of_a_protobuf_file_may_be_the_record(log: EmbeddedLog) -> None:
    registry = guarded(log, "record")
    text = 'syntax = "proto3"; package shop; message A { string a = 1; } message B { int32 b = 1; }'
    registry.register("shop.B", SchemaText(text, "PROTOBUF"))
    write(log, value(1))


def test_a_misspelt_strategy_keeps_the_topic_from_being_made(log: EmbeddedLog) -> None:
    setting = guard_setting("topic").replace("(topic)", "(topc)")
    with pytest.raises(RegistryError, match="NAMING_STRATEGY"):
        log.create_topic("orders", config=TopicConfig(guard=setting))


def test_slices_of_large_batches_are_looked_at_where_they_lie(log: EmbeddedLog) -> None:
    Registry(log).register("orders-value", record("a"))
    guard = SubjectGuard(log, "topic")
    whole = pa.array([b"junk", None, value(1), value(1, b"x" * 100), b"junk"], pa.binary())
    batch = pa.RecordBatch.from_arrays([whole], names=["value"])
    guard.check("orders", batch.slice(1, 3))
    with pytest.raises(RecordError, match="row 3"):
        guard.check("orders", batch.slice(1))
    guard.check("orders", batch.slice(0, 0))
    many = pa.array([value(1)] * 10_000, pa.binary())
    guard.check("orders", pa.RecordBatch.from_arrays([many], names=["value"]))


def test_the_server_of_a_log_guards_its_topics_and_keeps_a_registry_too(tmp_path: Path) -> None:
    with served(tmp_path) as found:
        setting = TopicConfig(guard=guard_setting("topic"))
        found.log.create_topic("orders", config=setting)
        with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
            found.log.append("orders", 0, rows_of_bytes([value(1)]))
        far, near = Registry(found.log), Registry(found.embedded)
        assert far.register("orders-value", record("a")).id == 1
        assert near.register("orders-value", record("a", b="x")).id == 2
        assert far.register("others", record("c")).id == 3
        found.log.append("orders", 0, rows_of_bytes([value(1), value(2)]))
        with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
            found.log.append("orders", 0, rows_of_bytes([value(3)]))
        far.close()
        near.close()


def test_the_guard_asks_the_registry_that_the_settings_name(
    log: EmbeddedLog, working_directory: Path
) -> None:
    elsewhere = Registry(EmbeddedLog(MemoryStorage()))
    elsewhere.register("orders-value", record("a"))
    with HttpServer(registry_app(elsewhere)) as server:
        (working_directory / "penstock.toml").write_text(f'registry.url = "{server.url}"\n')
        guarded(log, "topic")
        write(log, value(1))
        with pytest.raises(RecordError, match="SCHEMA_REFUSED"):
            write(log, value(2))
