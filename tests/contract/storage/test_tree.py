from __future__ import annotations

import threading
from pathlib import Path

import pytest

from penstock.log.storage import Storage
from tests.contract.storage.actor import acting, hear
from tests.contract.storage.adapters import Adapter


def test_names_are_listed_sorted_and_only_one_level_deep(storage: Storage) -> None:
    storage.make_directory("b/deep/deeper")
    for path in ("b/z", "b/a", "b/deep/hidden", "a", "b0"):
        storage.replace(path, b"")
    assert storage.list("b") == ["a", "deep", "z"]
    assert storage.list("") == ["a", "b", "b0"]


def test_an_absent_or_empty_directory_has_no_names(storage: Storage) -> None:
    storage.make_directory("empty")
    assert storage.list("empty") == storage.list("absent") == []


def test_existence_holds_for_files_and_directories(storage: Storage) -> None:
    storage.make_directory("a/b")
    storage.replace("a/b/c", b"")
    assert all(storage.exists(path) for path in ("", "a", "a/b", "a/b/c"))
    assert not storage.exists("a/c")


def test_a_directory_is_made_twice_without_harm(storage: Storage) -> None:
    storage.make_directory("a/b")
    storage.replace("a/b/c", b"x")
    storage.make_directory("a/b")
    assert storage.read("a/b/c") == b"x"


def test_a_file_is_moved_over_another(storage: Storage) -> None:
    storage.make_directory("a")
    storage.replace("old", b"old")
    storage.replace("a/new", b"new")
    storage.rename("old", "a/new")
    assert storage.read("a/new") == b"old"
    assert not storage.exists("old")


def test_a_directory_is_moved_with_all_below_it(storage: Storage) -> None:
    storage.make_directory("old/deep")
    storage.replace("old/deep/file", b"x")
    storage.replace("old0", b"a neighbour in sort order")
    storage.rename("old", "new")
    assert storage.read("new/deep/file") == b"x"
    assert storage.list("") == ["new", "old0"]


@pytest.mark.parametrize("inside", [None, "file"])
def test_a_directory_is_not_moved_onto_another(storage: Storage, inside: str | None) -> None:
    storage.make_directory("old")
    storage.make_directory("new")
    if inside:
        storage.replace(f"new/{inside}", b"x")
    with pytest.raises(FileExistsError):
        storage.rename("old", "new")
    assert storage.exists("old")


def test_a_directory_is_not_moved_onto_a_file(storage: Storage) -> None:
    storage.make_directory("old")
    storage.replace("new", b"x")
    with pytest.raises(FileExistsError):
        storage.rename("old", "new")


def test_what_is_absent_cannot_be_moved_or_read(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.rename("absent", "new")
    with pytest.raises(FileNotFoundError):
        storage.read("absent")
    with pytest.raises(FileNotFoundError):
        storage.sync_directory("absent")


def test_a_removed_file_is_gone_and_removing_it_again_is_harmless(storage: Storage) -> None:
    storage.replace("file", b"x")
    storage.remove("file")
    storage.remove("file")
    assert storage.list("") == []


def test_a_removed_tree_takes_nothing_else_with_it(storage: Storage) -> None:
    storage.make_directory("tree/deep")
    storage.replace("tree/deep/file", b"x")
    storage.replace("tree0", b"x")
    storage.remove_tree("tree")
    storage.remove_tree("tree")
    assert storage.list("") == ["tree0"]
    assert not storage.exists("tree/deep/file")


def test_a_removed_name_can_be_used_again(storage: Storage) -> None:
    storage.replace("name", b"a longer content")
    storage.remove("name")
    storage.replace("name", b"short")
    assert storage.read("name") == b"short"


@pytest.mark.kill
def test_a_reader_never_sees_a_mix_of_old_and_new(
    adapter: Adapter, shared: Storage, tmp_path: Path
) -> None:
    shared.replace("small", b"000000" * 1000)
    seen: set[bytes] = set()
    with acting(adapter.name, tmp_path, "replace") as process:
        assert hear(process) == "ready"
        while len(seen) < 30:
            content = shared.read("small")
            assert content == content[:6] * 1000
            seen.add(content)


def test_a_thread_never_sees_a_mix_of_old_and_new(storage: Storage) -> None:
    storage.replace("small", b"0" * 5000)
    stop = threading.Event()

    def replace() -> None:
        while not stop.is_set():
            for digit in b"0123456789":
                storage.replace("small", bytes([digit]) * 5000)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(200):
            content = storage.read("small")
            assert content == content[:1] * 5000
    finally:
        stop.set()
        thread.join()
