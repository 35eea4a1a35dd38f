"""A decision outlives markers that could not be written, and readers that look too late."""

from __future__ import annotations

import pytest

from penstock.clock import ManualClock
from penstock.errors import StorageError
from penstock.log.embedded.decisions import Outcome
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes


@pytest.fixture
def log() -> EmbeddedLog:
    log = EmbeddedLog(MemoryStorage(), ManualClock(1))
    log.create_topic("debits")
    log.create_topic("credits")
    return log


def _values(log: EmbeddedLog, topic: str) -> list[bytes]:
    return list(log.read(topic, 0, 0, ReadLimit()).rows["value"].to_pylist())


def test_markers_that_failed_are_made_up_for_before_the_next_decision(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("debits", 0, rows_of_bytes([b"first"]))
    transaction.commit_offsets("readers", {TopicPartition("debits", 0): 1})

    def refuse(*_: object, **__: object) -> None:
        raise StorageError("DISK_FULL", "no room for a marker")

    with monkeypatch.context() as full:
        full.setattr(EmbeddedLog, "mark", refuse)
        transaction.commit("1")
        assert log.partition("debits", 0).reader.head().open
        assert _values(log, "debits") == [b"first"]
    transaction.begin()
    transaction.append("credits", 0, rows_of_bytes([b"second"]))
    transaction.commit("2")
    assert not log.partition("debits", 0).reader.head().open
    assert _values(log, "debits") == [b"first"]
    assert _values(log, "credits") == [b"second"]
    assert log.committed("readers") == {TopicPartition("debits", 0): 1}


def test_the_next_holder_makes_up_for_markers_too(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("debits", 0, rows_of_bytes([b"first"]))
    with monkeypatch.context() as full:
        full.setattr(EmbeddedLog, "mark", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            transaction.commit()
    holder = log.transaction("job")
    holder.begin()
    holder.append("credits", 0, rows_of_bytes([b"second"]))
    holder.commit()
    assert _values(log, "debits") == [b"first"]


def test_a_reader_overtaken_by_two_commits_does_not_take_the_first_for_an_abort(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("debits", 0, rows_of_bytes([b"first"]))
    reader = log.partition("debits", 0).reader
    asked = reader._decisions
    real = asked.outcome
    overtaken = False

    def overtake(writer_id: int, epoch: int, number: int) -> Outcome:
        nonlocal overtaken
        if not overtaken:
            overtaken = True
            transaction.commit()
            transaction.begin()
            transaction.append("credits", 0, rows_of_bytes([b"second"]))
            transaction.commit()
        return real(writer_id, epoch, number)

    monkeypatch.setattr(asked, "outcome", overtake)
    assert _values(log, "debits") == [b"first"]
    assert overtaken
