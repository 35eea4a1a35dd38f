from __future__ import annotations

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import RegistryError, StorageError, TransactionError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.transaction import EmbeddedTransaction
from penstock.log.open import open_log
from penstock.log.port import Appended, ReadLimit, WriterStamp
from penstock.log.record import TopicPartition
from penstock.schema.registry.schema_topic import SCHEMAS_TOPIC
from tests.schema.registry.kit import a_registry, record

A, AB = record("a"), record("a", b="x")


def records(log: EmbeddedLog) -> list[tuple[object, object]]:
    rows = log.read(SCHEMAS_TOPIC, 0, 0, ReadLimit()).rows.to_pylist()
    return [
        (json.loads(row["_key"]), None if row["value"] is None else json.loads(row["value"]))
        for row in rows
    ]


def test_the_records_are_those_of_confluents_topic() -> None:
    log = EmbeddedLog(MemoryStorage())
    registry = a_registry(log)
    assert SCHEMAS_TOPIC not in log.topics()
    registry.register("s", A)
    registry.set_level("s", "FULL")
    registry.set_mode(None, "READWRITE")
    registry.delete_subject("s")
    registry.delete_subject("s", permanent=True)
    found = records(log)
    assert found[0][0] == {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}
    assert isinstance(found[0][1], dict)
    assert found[0][1] | {"ts": 0, "guid": ""} == {
        "subject": "s",
        "version": 1,
        "id": 1,
        "guid": "",
        "schema": '{"type":"record","name":"Order","fields":[{"name":"a","type":"string"}]}',
        "deleted": False,
        "ts": 0,
    }
    assert found[1:] == [
        (
            {"keytype": "CONFIG", "subject": "s", "magic": 0},
            {"subject": "s", "compatibilityLevel": "FULL"},
        ),
        ({"keytype": "MODE", "subject": None, "magic": 0}, {"subject": None, "mode": "READWRITE"}),
        (
            {"keytype": "DELETE_SUBJECT", "subject": "s", "magic": 0},
            {"subject": "s", "version": 1},
        ),
        ({"keytype": "CONFIG", "subject": "s", "magic": 0}, None),
        ({"keytype": "LAST_ID", "context": ".", "magic": 0}, {"context": ".", "id": 1}),
        ({"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}, None),
    ]
    assert log.topic(SCHEMAS_TOPIC).config.compacts


def test_everything_is_there_after_a_restart_and_a_compaction(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        registry = a_registry(log)
        registry.register("s", A)
        registry.register("s", AB)
        registry.register("gone", record("z"))
        registry.delete_subject("gone")
        registry.delete_subject("gone", permanent=True)
        registry.delete_version("s", 1)
        registry.set_level("s", "FULL_TRANSITIVE")
        registry.close()
        log.clean(SCHEMAS_TOPIC, include_active=True)
    with open_log(tmp_path) as log:
        registry = a_registry(log)
        assert registry.subjects("all") == ["s"]
        assert [one.version for one in registry.versions("s", "all")] == [1, 2]
        assert registry.settings("s") == {"compatibilityLevel": "FULL_TRANSITIVE"}
        # The id of what was removed for ever is not given again.
        assert registry.register("t", record("new")).id == 4
        registry.close()


def test_two_registries_of_one_log_agree_at_once() -> None:
    log = EmbeddedLog(MemoryStorage())
    one, other = a_registry(log), a_registry(log)
    one.register("s", A)
    assert other.version("s").id == 1
    assert other.register("s", AB).version == 2
    # Who was fenced off by the other takes part again by itself.
    assert one.register("t", record("c")).id == 3
    assert other.register("t", record("c", d="x")).id == 4


def test_many_at_once_never_get_one_id_twice() -> None:
    log = EmbeddedLog(MemoryStorage())
    found: list[tuple[str, int, int]] = []

    def register(number: int) -> None:
        registry = a_registry(log)
        for step in range(5):
            done = registry.register(f"s{number}", record("a", **{f"f{number}_{step}": "x"}))
            found.append((done.subject, done.version, done.id))
        registry.close()

    threads = [threading.Thread(target=register, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one[2] for one in found) == list(range(1, 21))
    assert sorted(one[:2] for one in found) == [
        (f"s{number}", version) for number in range(4) for version in range(1, 6)
    ]


class _Fenced(EmbeddedTransaction):
    @override
    def commit(self, note: str = "") -> None:
        raise TransactionError("WRITER_FENCED", "others are always quicker", hint="")


class _BusyLog(EmbeddedLog):
    @override
    def transaction(self, transactional_id: str) -> EmbeddedTransaction:
        return _Fenced(transactional_id, self._transactions, self, self._groups)


def test_who_is_always_too_late_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.schema.registry.schema_topic._ATTEMPTS", 3)
    registry = a_registry(_BusyLog(MemoryStorage()))
    with pytest.raises(RegistryError, match="REGISTRY_BUSY"):
        registry.register("s", A)
    assert registry.subjects("all") == []


class _FullLog(EmbeddedLog):
    full = True

    @override
    def append_in_transaction(
        self, target: TopicPartition, rows: pa.Table, *, stamp: WriterStamp, number: int
    ) -> Appended:
        if self.full:
            raise StorageError("DISK_FULL", "the disk is full", hint="")
        return super().append_in_transaction(target, rows, stamp=stamp, number=number)


def test_a_write_that_fails_leaves_nothing_and_can_be_tried_again() -> None:
    log = _FullLog(MemoryStorage())
    registry = a_registry(log)
    with pytest.raises(StorageError, match="DISK_FULL"):
        registry.register("s", A)
    log.full = False
    assert registry.register("s", A).id == 1


def test_a_topic_that_is_deleted_and_made_anew_is_read_anew() -> None:
    log = EmbeddedLog(MemoryStorage())
    registry = a_registry(log)
    registry.register("s", A)
    log.delete_topic(SCHEMAS_TOPIC)
    assert registry.subjects() == []
    assert registry.register("t", AB).id == 1
