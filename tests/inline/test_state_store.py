"""What every state store promises, whoever keeps the snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from penstock.errors import StateError, UsageError
from penstock.inline.changelog_store import ChangelogStore, state_topic
from penstock.inline.choose_store import choose_store
from penstock.inline.local_store import LocalStore
from penstock.inline.state_store import Bucket, Cut, StateStore
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log

pytestmark = pytest.mark.slow

KINDS = ("memory", "local", "changelog", "external")
A, B, C = ("agg-1", 0), ("agg-1", 1), ("join/2", 0)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path / "home") as opened:
        yield opened


def opened(kind: str, folder: Path, log: EmbeddedLog) -> StateStore:
    return choose_store(kind, folder / "job", log, "shop", str(folder / "state.sqlite"))


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, log: EmbeddedLog) -> StateStore:
    return opened(request.param, tmp_path, log)


class History:
    """Snapshots one after the other, each knowing what changed since the one before."""

    def __init__(self, store: StateStore) -> None:
        self.store = store
        self._before: Mapping[Bucket, bytes] = {}

    def cut(self, number: int, states: Mapping[Bucket, bytes]) -> Cut:
        before, self._before = self._before, states
        return Cut(
            number,
            f"header {number}".encode(),
            buckets=frozenset(states),
            changed=frozenset(at for at, blob in states.items() if before.get(at) != blob),
            gone=frozenset(before.keys() - states.keys()),
            encode=states.__getitem__,
        )

    def write(self, number: int, states: Mapping[Bucket, bytes]) -> None:
        self.store.write(self.cut(number, states), None)
        self.store.note(number)


def content(store: StateStore, number: int) -> tuple[bytes, dict[Bucket, bytes]] | None:
    found = store.read(number)
    return None if found is None else (found.header, dict(found.blobs))


def test_before_the_first_snapshot_none_counts(store: StateStore) -> None:
    assert store.current() is None
    assert store.read(1) is None


def test_the_last_that_was_noted_is_given_back_whole(store: StateStore) -> None:
    history = History(store)
    history.write(1, {A: b"1", B: b"1"})
    history.write(2, {A: b"2", B: b"1", C: b"2"})
    history.write(3, {A: b"2", C: b"3"})
    assert store.current() == 3
    assert content(store, 3) == (b"header 3", {A: b"2", C: b"3"})
    assert content(store, 2) is None


def test_a_bucket_that_was_empty_may_be_filled_again(store: StateStore) -> None:
    history = History(store)
    for number, states in enumerate([{A: b"1"}, {}, {A: b"3"}, {}, {B: b"5"}], start=1):
        history.write(number, states)
        assert content(store, number) == (f"header {number}".encode(), states)


def test_everything_can_be_forgotten(store: StateStore) -> None:
    history = History(store)
    history.write(1, {A: b"1"})
    store.clear()
    assert store.current() is None
    History(store).write(1, {B: b"1"})
    assert content(store, 1) == (b"header 1", {B: b"1"})


@pytest.mark.parametrize("kind", ["local", "external"])
def test_a_snapshot_that_never_counted_leaves_no_trace(
    kind: str, tmp_path: Path, log: EmbeddedLog
) -> None:
    store = opened(kind, tmp_path, log)
    history = History(store)
    history.write(1, {A: b"1", B: b"1"})
    store.write(history.cut(2, {A: b"lost"}), None)
    again = opened(kind, tmp_path, log)
    assert again.current() == 1
    assert content(again, 1) == (b"header 1", {A: b"1", B: b"1"})
    history = History(again)
    history.cut(1, {A: b"1", B: b"1"})
    history.write(2, {A: b"2", B: b"1"})
    assert content(again, 2) == (b"header 2", {A: b"2", B: b"1"})


def test_within_a_transaction_a_snapshot_counts_with_it(tmp_path: Path, log: EmbeddedLog) -> None:
    store = opened("changelog", tmp_path, log)
    history = History(store)
    history.write(1, {A: b"1"})
    with log.transaction("program") as transaction:
        transaction.begin()
        store.write(history.cut(2, {A: b"2"}), transaction)
        assert opened("changelog", tmp_path, log).current() == 1
        transaction.commit("2")
    assert opened("changelog", tmp_path, log).current() == 2


def test_one_that_was_given_up_is_not_in_the_stream(tmp_path: Path, log: EmbeddedLog) -> None:
    store = opened("changelog", tmp_path, log)
    history = History(store)
    history.write(1, {A: b"1", B: b"1"})
    with log.transaction("program") as transaction:
        for number in range(10):
            transaction.begin()
            store.write(history.cut(2, {A: str(number).encode()}), transaction)
            transaction.abort()
    LocalStore(tmp_path / "job").clear()
    again = opened("changelog", tmp_path, log)
    assert again.current() == 1
    assert content(again, 1) == (b"header 1", {A: b"1", B: b"1"})


def test_files_that_are_there_are_taken_before_the_stream(tmp_path: Path, log: EmbeddedLog) -> None:
    History(opened("changelog", tmp_path, log)).write(1, {A: b"1"})
    found = opened("changelog", tmp_path, log).read(1)
    assert found is not None
    assert found.origin == "local"
    LocalStore(tmp_path / "job").clear()
    found = opened("changelog", tmp_path, log).read(1)
    assert found is not None
    assert (found.origin, found.blobs) == ("changelog", {A: b"1"})


def test_a_stream_that_lacks_what_the_files_have_is_made_whole(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    History(opened("local", tmp_path, log)).write(1, {A: b"1", B: b"1"})
    store = opened("changelog", tmp_path, log)
    assert store.current() == 1
    assert content(store, 1) == (b"header 1", {A: b"1", B: b"1"})
    history = History(store)
    history.cut(1, {A: b"1", B: b"1"})
    history.write(2, {A: b"1", B: b"2"})
    LocalStore(tmp_path / "job").clear()
    assert content(opened("changelog", tmp_path, log), 2) == (
        b"header 2",
        {A: b"1", B: b"2"},
    )


def test_only_what_changed_is_written_to_the_stream(tmp_path: Path, log: EmbeddedLog) -> None:
    local = LocalStore(tmp_path / "job")
    history = History(ChangelogStore(local, log, "shop"))
    history.write(1, {A: b"1", B: b"1"})
    before = log.bounds(state_topic("shop"), 0).end
    history.write(2, {A: b"2", B: b"1"})
    # The bucket, the header and the mark of the transaction.
    assert log.bounds(state_topic("shop"), 0).end - before == 3


def test_the_states_of_two_programs_in_one_database_are_apart(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    place = str(tmp_path / "state.sqlite")
    one, other = (choose_store("external", tmp_path, log, name, place) for name in ("a", "b"))
    History(one).write(1, {A: b"one"})
    History(other).write(1, {A: b"other"})
    other.clear()
    assert content(one, 1) == (b"header 1", {A: b"one"})


def test_a_file_that_is_damaged_is_refused(tmp_path: Path, log: EmbeddedLog) -> None:
    store = opened("local", tmp_path, log)
    History(store).write(1, {A: b"1"})
    (file,) = (tmp_path / "job" / "inline").glob("memory-*")
    file.write_bytes(b"\x05\x00")
    with pytest.raises(StateError, match="SNAPSHOT_BROKEN"):
        store.read(1)


def test_a_store_that_does_not_exist_is_refused_with_those_that_do(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    with pytest.raises(UsageError, match="STATE_STORE") as caught:
        opened("locla", tmp_path, log)
    assert caught.value.hint == 'Did you mean "local"?'
