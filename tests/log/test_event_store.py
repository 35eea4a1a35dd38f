from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest

from penstock.errors import RecordError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.event_store import Body, EventStore
from penstock.log.open import open_log

EVENTS = pa.schema([("kind", pa.string()), ("amount", pa.int64())])


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path) as opened:
        opened.create_topic("accounts", partitions=2)
        opened.create_topic("typed", schema=EVENTS)
        yield opened


def put(amount: int) -> Body:
    return {"kind": "put", "amount": amount}


def added(balance: int, event: Body) -> int:
    return balance + int(event["amount"])


@pytest.mark.parametrize("topic", ["accounts", "typed"])
def test_a_state_is_the_fold_of_events_at_any_version(log: EmbeddedLog, topic: str) -> None:
    store = EventStore(log, topic)
    assert store.append("ann", [put(10), put(5)]) == 2
    assert store.append("bob", [put(100)]) == 1
    assert store.append("ann", [put(-3)], expected_version=2) == 3
    balances = [store.fold("ann", 0, added, version=version) for version in range(4)]
    assert balances == [0, 10, 15, 12]
    assert [event.body for event in store.events("ann")] == [put(10), put(5), put(-3)]
    store.close()


def test_a_decision_on_an_old_version_is_refused_and_leaves_nothing(log: EmbeddedLog) -> None:
    one, other = EventStore(log, "accounts"), EventStore(log, "accounts")
    one.append("ann", [put(10)], expected_version=0)
    seen = other.version("ann")
    one.append("ann", [put(-10)], expected_version=1)
    with pytest.raises(RecordError, match=r"VERSION_CONFLICT.*has version 2, and 1 was expected"):
        other.append("ann", [put(-10)], expected_version=seen)
    assert other.fold("ann", 0, added) == 0
    assert other.append("ann", [put(1)], expected_version=2) == 3
    # Who was fenced off takes part again by itself.
    assert one.append("ann", [put(1)], expected_version=3) == 4
    one.close()
    other.close()


def test_of_many_that_decide_at_once_one_wins_each_version(log: EmbeddedLog) -> None:
    won: list[int] = []

    def decide() -> None:
        store = EventStore(log, "accounts")
        while (seen := store.version("ann")) < 12:
            with contextlib.suppress(RecordError):  # VERSION_CONFLICT, or VERSION_BUSY
                won.append(store.append("ann", [put(1)], expected_version=seen))
        store.close()

    deciders = [Thread(target=decide) for _ in range(3)]
    for decider in deciders:
        decider.start()
    for decider in deciders:
        decider.join()
    assert sorted(won) == list(range(1, len(won) + 1))
    assert EventStore(log, "accounts").version("ann") == len(won) >= 12


def test_without_an_expectation_events_are_added_to_whatever_there_is(log: EmbeddedLog) -> None:
    store = EventStore(log, "accounts")
    assert store.append("ann", []) == 0
    assert [store.append("ann", [put(1)]) for _ in range(3)] == [1, 2, 3]
    store.close()


def test_what_others_hold_open_does_not_hide_what_was_written(log: EmbeddedLog) -> None:
    stores = EventStore(log, "typed")
    with log.transaction("slow") as slow:
        slow.begin()
        slow.append("typed", 0, pa.Table.from_pylist([dict(put(0))], EVENTS))
        assert stores.append("ann", [put(1)], expected_version=0) == 1
        assert stores.append("ann", [put(2)], expected_version=1) == 2
        slow.abort()
    assert stores.version("ann") == 2
    stores.close()


def test_the_state_at_a_time_is_the_fold_of_what_had_happened(log: EmbeddedLog) -> None:
    store = EventStore(log, "accounts")
    store.append("ann", [put(10)])
    first = store.events("ann")[0].timestamp
    store.append("ann", [put(5)])
    assert store.fold("ann", 0, added, until=first - 1) == 0
    assert store.fold("ann", 0, added, until=store.events("ann")[1].timestamp) == 15
    store.close()


@pytest.mark.parametrize(
    ("topic", "body"), [("typed", {"amount": "many"}), ("accounts", {"amount": object()})]
)
def test_an_event_that_cannot_be_stored_leaves_the_store_usable(
    log: EmbeddedLog, topic: str, body: Body
) -> None:
    store = EventStore(log, topic)
    store.append("ann", [put(1)])
    with pytest.raises(RecordError, match="EVENT_BODY"):
        store.append("ann", [body])
    assert store.append("ann", [put(1)], expected_version=1) == 2
    store.close()
