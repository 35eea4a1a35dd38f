from __future__ import annotations

import errno
import select
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.log.embedded import inotify, kqueue, watch
from penstock.log.embedded.watch import PollingWatch, watch_files
from tests.log.embedded.forking import holds_in_child

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "watched"
    path.write_bytes(b"x")
    return path


@linux
def test_linux_watches_by_events(file: Path) -> None:
    assert isinstance(watch_files([str(file)]), inotify.InotifyWatch)


@linux
@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOSPC])
@pytest.mark.parametrize("function", ["inotify_init1", "inotify_add_watch"])
def test_where_the_events_are_used_up_files_are_looked_at(
    file: Path, monkeypatch: pytest.MonkeyPatch, code: int, function: str
) -> None:
    real = inotify._call

    def refuse(name: str, *arguments: int | bytes) -> int:
        if name == function:
            raise OSError(code, "used up")
        return real(name, *arguments)

    monkeypatch.setattr(inotify, "_call", refuse)
    found = watch_files([str(file)])
    assert isinstance(found, PollingWatch)
    assert not found.wait(0.01)
    file.write_bytes(b"longer")
    assert found.wait(30)
    assert not found.wait(0.01)
    file.unlink()
    assert found.wait(30)


def test_a_look_comes_less_often_after_a_long_silence_and_at_once_after_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, slept, seen = [0.0], list[float](), ["a"]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    found = PollingWatch(lambda: seen[0])
    assert not found.wait(1)
    assert max(slept) <= 0.02
    for _ in range(4):
        assert not found.wait(30)
    assert slept[-2] == 0.5
    seen[0] = "b"
    assert found.wait(30)
    slept.clear()
    assert not found.wait(0.1)
    assert max(slept) <= 0.02


@linux
def test_another_error_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        watch_files([str(tmp_path / "absent" / "file")])


def test_a_poller_sees_a_file_replaced_by_one_of_the_same_size(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "sys", SimpleNamespace(platform="other"))
    monkeypatch.delattr(select, "kqueue", raising=False)
    found = watch_files([str(file)])
    (file.parent / "new").write_bytes(b"y")
    (file.parent / "new").replace(file)
    assert found.wait(30)


@linux
def test_a_directory_that_vanishes_and_comes_back_is_watched_on(tmp_path: Path) -> None:
    directory = tmp_path / "directory"
    directory.mkdir()
    file = directory / "watched"
    file.write_bytes(b"x")
    found = watch_files([str(file)])
    shutil.rmtree(directory)
    assert found.wait(30)
    assert not found.wait(0.01)
    directory.mkdir()
    file.write_bytes(b"x")
    assert found.wait(30)
    while found.wait(0.01):
        continue
    file.write_bytes(b"y")
    assert found.wait(30)


@linux
def test_a_directory_moved_away_is_told(tmp_path: Path) -> None:
    directory = tmp_path / "directory"
    directory.mkdir()
    (directory / "watched").write_bytes(b"x")
    found = watch_files([str(directory / "watched")])
    directory.rename(tmp_path / "elsewhere")
    assert found.wait(30)


@linux
def test_two_spellings_of_one_directory_are_both_watched(tmp_path: Path) -> None:
    (tmp_path / "one").touch()
    (tmp_path / "two").touch()
    found = watch_files([f"{tmp_path}/one", f"{tmp_path}/./two"])
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"x")
        assert found.wait(30)
        assert not found.wait(0.01)


@linux
def test_thousands_of_events_between_two_waits_are_one_change(file: Path) -> None:
    found = watch_files([str(file)])
    for number in range(2000):
        file.write_bytes(b"%d" % number)
    assert found.wait(30)
    assert not found.wait(0.01)


@linux
def test_events_that_were_too_many_for_the_kernel_count_as_a_change(file: Path) -> None:
    found = inotify.InotifyWatch([str(file)])
    assert found._concerns(-1, inotify._OVERFLOW, b"")


def test_a_forked_child_does_not_take_events_from_its_parent(file: Path) -> None:
    found = watch_files([str(file)])
    file.write_bytes(b"changed")

    def drain() -> bool:
        found.wait(0)
        found.wait(0)
        return True

    assert holds_in_child(drain)
    assert found.wait(30)


@linux
def test_a_wake_up_takes_less_than_a_millisecond_or_so(file: Path) -> None:
    found = watch_files([str(file)])
    delays = []
    with file.open("r+b", buffering=0) as writer:
        for _ in range(50):
            started = time.perf_counter()
            writer.write(b"x")
            assert found.wait(30)
            delays.append(time.perf_counter() - started)
    assert sorted(delays)[25] < 0.005


class FakeQueue:
    """The part of select.kqueue that is used, told its events by hand."""

    def __init__(self) -> None:
        self.watched: list[int] = []
        self.events: list[SimpleNamespace] = []

    def control(
        self, changes: list[SimpleNamespace] | None, most: int, _timeout: float
    ) -> list[SimpleNamespace]:
        self.watched += [change.ident for change in changes or ()]
        events, self.events = self.events[:most], []
        return events

    def close(self) -> None:
        self.watched.clear()


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> FakeQueue:
    made = FakeQueue()

    def event(ident: int, **_: int) -> SimpleNamespace:
        return SimpleNamespace(ident=ident)

    bits = ["NOTE_WRITE", "NOTE_EXTEND", "NOTE_ATTRIB", "NOTE_DELETE", "NOTE_RENAME"]
    bits += ["FILTER_VNODE", "EV_ADD", "EV_CLEAR"]
    names = {f"KQ_{name}": 1 << number for number, name in enumerate(bits)}
    system = SimpleNamespace(kqueue=lambda: made, kevent=event, **names)
    monkeypatch.setattr(kqueue, "_system", system)
    return made


def test_a_kernel_queue_tells_changes(queue: FakeQueue, file: Path) -> None:
    found = kqueue.KqueueWatch([str(file)])
    assert not found.wait(0)
    queue.events = [SimpleNamespace(ident=queue.watched[0], fflags=1)]
    assert found.wait(0)
    found.close()
    found.close()


def test_a_kernel_queue_opens_a_replaced_file_again(queue: FakeQueue, file: Path) -> None:
    found = kqueue.KqueueWatch([str(file)])
    file.unlink()
    removed = SimpleNamespace(ident=queue.watched[0], fflags=kqueue._system.KQ_NOTE_DELETE)
    queue.events = [removed]
    assert found.wait(0)
    assert not found.wait(0)
    file.write_bytes(b"back")
    assert found.wait(0)
    assert len(queue.watched) == 2
    found.close()
