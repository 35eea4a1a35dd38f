from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.log.embedded.disk import DiskStorage
from penstock.log.storage import Bytes
from tests.log.embedded.forking import holds_in_child


@pytest.fixture
def storage(tmp_path: Path) -> DiskStorage:
    return DiskStorage(tmp_path)


def test_a_short_write_is_continued_across_parts(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.pwritev

    def only_seven(descriptor: int, parts: Sequence[Bytes], position: int) -> int:
        return whole(descriptor, [b"".join(parts)[:7]], position)

    monkeypatch.setattr(os, "pwritev", only_seven)
    file = storage.open("file", create=True)
    file.write_at(5, [b"abc", b"defghijklm", b"", b"n", b"opqrstuvwxyz"])
    assert file.read_at(0, 99) == b"\0\0\0\0\0abcdefghijklmnopqrstuvwxyz"


def test_a_short_read_is_continued(storage: DiskStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.replace("file", b"0123456789")
    whole = os.pread

    def only_three(descriptor: int, length: int, position: int) -> bytes:
        return whole(descriptor, min(length, 3), position)

    monkeypatch.setattr(os, "pread", only_three)
    assert storage.open("file").read_at(1, 8) == b"12345678"
    assert storage.open("file").read_at(1, 99) == b"123456789"


def test_a_disk_that_takes_nothing_is_an_error_not_a_hang(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "pwritev", lambda *_: 0)
    with pytest.raises(OSError, match="took none") as caught:
        storage.open("file", create=True).write_at(0, [b"x"])
    assert caught.value.errno == errno.EIO


def test_a_full_disk_is_told(storage: DiskStorage) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (Path(storage._root) / "full").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space") as caught:
        storage.open("full", write=True).write_at(0, [b"x"])
    assert caught.value.errno == errno.ENOSPC


def test_a_failed_replace_leaves_the_old_content_and_no_litter(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    storage.replace("file", b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(OSError, match="broken"):
        storage.replace("file", b"new", sync=True)
    assert storage.read("file") == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_writer_left_is_not_listed_and_swept_when_old(tmp_path: Path) -> None:
    fresh, old = tmp_path / ".tmp-fresh", tmp_path / ".tmp-old"
    fresh.touch()
    old.touch()
    os.utime(old, (0, 0))
    assert DiskStorage(tmp_path).list("") == []
    DiskStorage(tmp_path).replace("file", b"x")
    assert fresh.exists()
    assert not old.exists()


def test_a_file_is_shared_with_a_forked_child(storage: DiskStorage) -> None:
    file = storage.open("file", create=True)
    file.write_at(0, [b"parent"])

    def check() -> bool:
        file.write_at(file.size(), [b" child"])
        return file.read_at(0, 6) == b"parent"

    assert holds_in_child(check)
    assert file.read_at(0, 99) == b"parent child"


def test_the_root_itself_is_made_on_demand(tmp_path: Path) -> None:
    storage = DiskStorage(tmp_path / "a" / "b")
    assert not storage.exists("")
    assert storage.list("") == []
    storage.make_directory("")
    assert storage.exists("")
