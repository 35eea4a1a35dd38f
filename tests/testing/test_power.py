from __future__ import annotations

from penstock.log.embedded.memory import MemoryStorage
from penstock.testing.faults import PowerCutStorage

SEEDS = range(60)


def outcomes(storage: PowerCutStorage, path: str) -> set[bytes | None]:
    """All that a power cut may leave of a file; None where it is gone."""

    def content(left: MemoryStorage) -> bytes | None:
        return left.read(path) if left.exists(path) else None

    return {content(storage.after_cut(seed)) for seed in SEEDS}


def test_what_was_synced_survives() -> None:
    storage = PowerCutStorage()
    file = storage.open("file", create=True)
    file.write_at(0, [b"ab", b"c"])
    file.sync()
    storage.sync_directory("")
    file.close()
    assert outcomes(storage, "file") == {b"abc"}


def test_what_was_not_synced_may_be_there_or_not() -> None:
    storage = PowerCutStorage()
    file = storage.open("file", create=True)
    file.write_at(0, [b"old"])
    file.sync()
    storage.sync_directory("")
    file.write_at(0, [b"new"])
    assert outcomes(storage, "file") == {b"old", b"new"}
    assert storage.read("file") == b"new"


def test_a_name_is_durable_with_its_directory_only() -> None:
    storage = PowerCutStorage()
    file = storage.open("file", create=True)
    file.write_at(0, [b"abc"])
    file.sync()
    assert outcomes(storage, "file") == {None, b"abc"}


def test_a_large_write_is_torn_between_sectors() -> None:
    storage = PowerCutStorage()
    file = storage.open("file", create=True)
    storage.sync_directory("")
    file.write_at(0, [b"x" * 2000])
    assert {len(content or b"") for content in outcomes(storage, "file")} == {
        0,
        512,
        1024,
        1536,
        2000,
    }


def test_later_writes_may_survive_earlier_ones() -> None:
    storage = PowerCutStorage()
    file = storage.open("file", create=True)
    storage.sync_directory("")
    file.write_at(0, [b"a"])
    file.write_at(1, [b"b"])
    assert outcomes(storage, "file") == {b"", b"a", b"\0b", b"ab"}


def test_a_cut_that_was_not_synced_may_not_have_happened() -> None:
    storage = PowerCutStorage()
    storage.replace("file", b"abc", sync=True)
    storage.open("file", write=True).truncate(1)
    assert outcomes(storage, "file") == {b"abc", b"a"}


def test_a_synced_replacement_is_the_new_content() -> None:
    storage = PowerCutStorage()
    storage.replace("file", b"old", sync=True)
    storage.replace("file", b"new", sync=True)
    assert outcomes(storage, "file") == {b"new"}


def test_a_replacement_that_was_not_synced_may_leave_an_empty_file() -> None:
    storage = PowerCutStorage()
    storage.replace("file", b"old", sync=True)
    storage.replace("file", b"new")
    assert outcomes(storage, "file") == {b"old", b"new", b""}


def test_moves_and_removals_come_in_order() -> None:
    storage = PowerCutStorage()
    storage.make_directory("a")
    storage.replace("a/file", b"x", sync=True)
    storage.rename("a", "b")
    storage.remove("b/file")
    left = [storage.after_cut(seed) for seed in SEEDS]
    states = {(s.exists("a/file"), s.exists("b"), s.exists("b/file")) for s in left}
    assert states == {(True, False, False), (False, True, True), (False, True, False)}
    storage.sync_directory("b")
    assert outcomes(storage, "b/file") == {None}


def test_a_removed_tree_is_gone_with_its_parent_synced() -> None:
    storage = PowerCutStorage()
    storage.make_directory("a/b")
    storage.replace("a/b/file", b"x", sync=True)
    storage.remove_tree("a")
    storage.sync_directory("")
    assert outcomes(storage, "a/b/file") == {None}
