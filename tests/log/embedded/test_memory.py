from __future__ import annotations

import pytest

from penstock.log.embedded.memory import MemoryStorage


def test_two_storages_share_nothing() -> None:
    one, two = MemoryStorage(), MemoryStorage()
    one.replace("file", b"x")
    assert not two.exists("file")


def test_a_directory_is_no_file() -> None:
    storage = MemoryStorage()
    storage.make_directory("directory")
    storage.replace("file", b"x")
    with pytest.raises(IsADirectoryError):
        storage.read("directory")
    with pytest.raises(IsADirectoryError):
        storage.remove("directory")
    with pytest.raises(IsADirectoryError):
        storage.replace("directory", b"x")
    with pytest.raises(NotADirectoryError):
        storage.replace("file/below", b"x")
    with pytest.raises(FileExistsError):
        storage.make_directory("file/below")


def test_a_file_moved_onto_itself_stays() -> None:
    storage = MemoryStorage()
    storage.replace("file", b"x")
    storage.rename("file", "file")
    assert storage.read("file") == b"x"
