from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from penstock.log.storage import Storage, held
from tests.contract.storage.actor import acting, hear, say
from tests.contract.storage.adapters import Adapter


def test_a_lock_is_held_by_one_at_a_time(storage: Storage) -> None:
    one, two = storage.lock("lock"), storage.lock("lock")
    assert one.acquire()
    assert not two.acquire(timeout=0)
    one.release()
    assert two.acquire(timeout=0)


def test_locks_of_different_names_do_not_meet(storage: Storage) -> None:
    assert storage.lock("one").acquire(timeout=0)
    assert storage.lock("two").acquire(timeout=0)


def test_one_lock_shared_by_threads_is_exclusive_too(storage: Storage) -> None:
    lock = storage.lock("lock")
    lock.acquire()
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(lock.acquire(timeout=0)))
    thread.start()
    thread.join()
    assert results == [False]


def test_a_wait_ends_with_its_timeout(storage: Storage) -> None:
    holder, waiter = storage.lock("lock"), storage.lock("lock")
    holder.acquire()
    started = time.monotonic()
    assert not waiter.acquire(timeout=0.05)
    assert 0.05 <= time.monotonic() - started < 5


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_waiter_gets_the_lock_when_it_is_freed(storage: Storage, timeout: float | None) -> None:
    holder, waiter = storage.lock("lock"), storage.lock("lock")
    holder.acquire()
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(waiter.acquire(timeout)))
    thread.start()
    holder.release()
    thread.join()
    assert results == [True]
    assert not holder.acquire(timeout=0)


def test_a_closed_lock_is_free_and_can_be_taken_again(storage: Storage) -> None:
    one, two = storage.lock("lock"), storage.lock("lock")
    one.acquire()
    one.close()
    one.close()
    assert two.acquire(timeout=0)
    two.close()
    assert one.acquire(timeout=0)


def test_freeing_a_lock_that_is_not_held_leaves_its_holder_alone(storage: Storage) -> None:
    one, two = storage.lock("lock"), storage.lock("lock")
    one.acquire()
    two.release()
    assert not two.acquire(timeout=0)


def test_a_with_block_holds_a_lock(storage: Storage) -> None:
    other = storage.lock("lock")
    with held(storage.lock("lock")):
        assert not other.acquire(timeout=0)
    assert other.acquire(timeout=0)


def test_a_lock_in_an_absent_directory_cannot_be_taken(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.lock("absent/lock").acquire(timeout=0)


def test_threads_count_without_losing_one(storage: Storage) -> None:
    storage.replace("count", b"0")

    def count() -> None:
        lock = storage.lock("lock")
        for _ in range(50):
            with held(lock):
                storage.replace("count", b"%d" % (int(storage.read("count")) + 1))
        lock.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert storage.read("count") == b"200"


@pytest.mark.kill
def test_processes_count_without_losing_one(
    adapter: Adapter, shared: Storage, tmp_path: Path
) -> None:
    shared.replace("count", b"0")
    with (
        acting(adapter.name, tmp_path, "count") as one,
        acting(adapter.name, tmp_path, "count") as two,
    ):
        assert [hear(one), hear(two)] == ["done", "done"]
    assert shared.read("count") == b"400"


@pytest.mark.kill
def test_another_process_holds_a_lock_until_it_ends(
    adapter: Adapter, shared: Storage, tmp_path: Path
) -> None:
    lock = shared.lock("lock")
    with acting(adapter.name, tmp_path, "hold") as process:
        assert hear(process) == "ready"
        assert not lock.acquire(timeout=0)
        say(process, "end")
        assert lock.acquire(timeout=30)


@pytest.mark.kill
def test_a_killed_process_frees_its_lock(adapter: Adapter, shared: Storage, tmp_path: Path) -> None:
    lock = shared.lock("lock")
    with acting(adapter.name, tmp_path, "hold") as process:
        assert hear(process) == "ready"
        process.kill()
        assert lock.acquire(timeout=30)


@pytest.mark.kill
def test_a_child_does_not_keep_the_lock_of_its_killed_parent(
    adapter: Adapter, shared: Storage, tmp_path: Path
) -> None:
    with acting(adapter.name, tmp_path, "orphan") as process:
        child = int(hear(process))
        try:
            assert shared.lock("lock").acquire(timeout=30)
        finally:
            os.kill(child, signal.SIGKILL)
