from __future__ import annotations

import fcntl
import signal
import threading
import time
from pathlib import Path

import pytest

from penstock.log.embedded.lock import FlockLock
from tests.log.embedded.forking import holds_in_child


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def test_a_lock_file_removed_while_idle_is_made_again(path: str) -> None:
    one, two = FlockLock(path), FlockLock(path)
    one.acquire()
    one.release()
    Path(path).unlink()
    two.acquire()
    assert not one.acquire(timeout=0)


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_lock_file_replaced_while_waiting_is_not_trusted(
    path: str, timeout: float | None
) -> None:
    holder, waiter, newcomer = FlockLock(path), FlockLock(path), FlockLock(path)
    holder.acquire()
    thread = threading.Thread(target=waiter.acquire, args=(timeout,))
    thread.start()
    while waiter._descriptor < 0:
        time.sleep(0.001)
    Path(path).unlink()
    newcomer.acquire()
    holder.release()
    thread.join(0.05)
    assert thread.is_alive(), "two hold the lock"
    newcomer.release()
    thread.join(30)
    assert not newcomer.acquire(timeout=0)


def test_a_forked_child_does_not_hold_the_lock_of_its_parent(path: str) -> None:
    lock = FlockLock(path)
    lock.acquire()
    assert holds_in_child(lambda: not lock.acquire(timeout=0))


def test_a_forked_child_cannot_free_the_lock_of_its_parent(path: str) -> None:
    lock, other = FlockLock(path), FlockLock(path)
    lock.acquire()

    def free() -> bool:
        lock.release()
        lock.close()
        return True

    assert holds_in_child(free)
    assert not other.acquire(timeout=0)
    lock.release()
    assert other.acquire(timeout=0)


def test_a_forked_child_can_take_a_lock_that_a_thread_of_its_parent_waits_for(path: str) -> None:
    holder, waiter = FlockLock(path), FlockLock(path)
    holder.acquire()
    thread = threading.Thread(target=waiter.acquire)
    thread.start()
    assert holds_in_child(lambda: not waiter.acquire(timeout=0.01))
    holder.release()
    thread.join(30)
    waiter.release()
    assert holds_in_child(lambda: waiter.acquire(timeout=0))


def test_an_interrupted_wait_leaves_the_lock_usable(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = FlockLock(path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lock.acquire()
    assert lock.acquire(timeout=0)


def test_a_signal_that_raises_nothing_does_not_end_a_wait(path: str) -> None:
    seen: list[int] = []
    holder, waiter = FlockLock(path), FlockLock(path)
    holder.acquire()
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        ends = threading.Timer(0.1, holder.release)
        beeps = threading.Timer(0.02, lambda: signal.raise_signal(signal.SIGUSR1))
        ends.start()
        beeps.start()
        assert waiter.acquire()
        ends.join()
        beeps.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_a_forgotten_lock_is_free(path: str) -> None:
    FlockLock(path).acquire()
    assert FlockLock(path).acquire(timeout=0)
