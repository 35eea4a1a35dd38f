from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path

import pytest

from penstock.log.storage import Storage
from tests.contract.storage.actor import acting, hear, say
from tests.contract.storage.adapters import Adapter


def test_nothing_changed_is_told_after_the_timeout(storage: Storage) -> None:
    storage.replace("watched", b"")
    watch = storage.watch(["watched"])
    started = time.monotonic()
    assert not watch.wait(0.05)
    assert 0.05 <= time.monotonic() - started < 5
    assert not watch.wait(0)


def test_a_write_before_the_wait_is_told_once(storage: Storage) -> None:
    file = storage.open("watched", create=True)
    watch = storage.watch(["watched"])
    file.write_at(0, [b"x"])
    assert watch.wait(30)
    assert not watch.wait(0.05)


def test_a_cut_and_a_replacement_are_told(storage: Storage) -> None:
    storage.replace("watched", b"abc")
    watch = storage.watch(["watched"])
    storage.open("watched", write=True).truncate(1)
    assert watch.wait(30)
    storage.replace("watched", b"new")
    assert watch.wait(30)
    storage.open("watched", write=True).write_at(3, [b"x"])
    assert watch.wait(30)


def test_a_removed_file_is_told(storage: Storage) -> None:
    storage.replace("watched", b"abc")
    watch = storage.watch(["watched"])
    storage.remove("watched")
    assert watch.wait(30)
    storage.replace("watched", b"back")
    assert watch.wait(30)


def test_a_neighbour_does_not_wake(storage: Storage) -> None:
    storage.replace("watched", b"")
    watch = storage.watch(["watched"])
    storage.replace("other", b"x")
    assert not watch.wait(0.05)


def test_any_of_many_files_wakes(storage: Storage) -> None:
    paths = [f"{number % 10}/{number}" for number in range(200)]
    for number in range(10):
        storage.make_directory(str(number))
    files = {path: storage.open(path, create=True) for path in paths}
    watch = storage.watch(paths)
    for path in paths[::37]:
        files[path].write_at(0, [b"x"])
        assert watch.wait(30), path
    assert not watch.wait(0.05)


def test_a_sleeper_is_woken_by_another_thread(storage: Storage) -> None:
    file = storage.open("watched", create=True)
    watch = storage.watch(["watched"])
    thread = threading.Timer(0.05, lambda: file.write_at(0, [b"x"]))
    thread.start()
    assert watch.wait(30)
    thread.join()


def test_a_closed_watch_can_be_closed_again(storage: Storage) -> None:
    storage.replace("watched", b"")
    watch = storage.watch(["watched"])
    watch.close()
    watch.close()


@pytest.mark.kill
def test_another_process_wakes_a_sleeper_within_milliseconds(
    adapter: Adapter, shared: Storage, tmp_path: Path
) -> None:
    shared.replace("watched", b"")
    watch = shared.watch(["watched"])
    delays = []
    with acting(adapter.name, tmp_path, "write") as process:
        assert hear(process) == "ready"
        for number in range(40):
            say(process, "replace" if number % 10 == 0 else "write")
            assert watch.wait(30)
            woken = time.monotonic_ns()
            delays.append((woken - int(hear(process))) / 1e6)
            while watch.wait(0.002):
                continue
    # A quiet machine wakes in a fraction of a millisecond; the bound leaves room for a busy one.
    assert statistics.median(delays) < 25
