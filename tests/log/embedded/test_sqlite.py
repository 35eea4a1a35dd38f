from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.log.embedded import sqlite_rows
from penstock.log.embedded.sqlite import SqliteStorage
from tests.log.embedded.forking import holds_in_child


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SqliteStorage]:
    made = SqliteStorage(tmp_path / "log.db")
    yield made
    made.close()


def test_what_one_storage_wrote_another_reads(storage: SqliteStorage, tmp_path: Path) -> None:
    storage.replace("file", b"x" * 100_000)
    storage.close()
    other = SqliteStorage(tmp_path / "log.db")
    assert other.read("file") == b"x" * 100_000
    other.close()


def test_a_storage_is_used_again_after_closing(storage: SqliteStorage) -> None:
    storage.replace("file", b"x")
    storage.close()
    assert storage.read("file") == b"x"


def test_a_forked_child_opens_the_database_for_itself(storage: SqliteStorage) -> None:
    storage.replace("file", b"parent")

    def check() -> bool:
        seen = storage.read("file")
        storage.replace("file", b"child")
        return seen == b"parent"

    assert holds_in_child(check)
    assert storage.read("file") == b"child"


def test_a_directory_is_no_file(storage: SqliteStorage) -> None:
    storage.make_directory("directory")
    storage.replace("file", b"x")
    with pytest.raises(IsADirectoryError):
        storage.open("directory")
    with pytest.raises(IsADirectoryError):
        storage.remove("directory")
    with pytest.raises(IsADirectoryError):
        storage.replace("directory", b"x")
    with pytest.raises(NotADirectoryError):
        storage.replace("file/below", b"x")
    with pytest.raises(FileExistsError):
        storage.make_directory("file/below")
    with pytest.raises(IsADirectoryError):
        storage.rename("file", "directory")


def test_a_file_moved_onto_itself_stays(storage: SqliteStorage) -> None:
    storage.replace("file", b"x")
    storage.rename("file", "file")
    assert storage.read("file") == b"x"


def test_nothing_is_there_before_the_first_directory_is_made(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "absent" / "log.db")
    assert not storage.exists("")
    assert storage.list("") == []
    with pytest.raises(FileNotFoundError):
        storage.replace("file", b"x")
    storage.make_directory("topics")
    assert storage.list("") == ["topics"]
    storage.close()


def test_a_full_database_is_a_full_disk(storage: SqliteStorage) -> None:
    storage.replace("file", b"old")
    with storage._database.reading() as connection:
        connection.execute("PRAGMA max_page_count = 20")
    with pytest.raises(OSError, match="full") as caught:
        storage.replace("file", b"x" * 200_000)
    assert caught.value.errno == errno.ENOSPC
    assert storage.read("file") == b"old"


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"a text" * 1000)
    with pytest.raises(OSError, match="not a database") as caught:
        SqliteStorage(tmp_path / "log.db").exists("")
    assert caught.value.errno == errno.EIO


def test_a_write_that_fails_midway_leaves_nothing(
    storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = storage.open("file", create=True)
    file.write_at(0, [b"old"])

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_rows, "resize", fail)
        with pytest.raises(OSError, match="broken"):
            file.write_at(0, [b"new and longer"])
    assert file.read_at(0, 99) == b"old"


def test_removed_rows_go_when_nobody_can_be_reading_them(
    storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.replace("file", b"x" * 100_000)
    file = storage.open("file")
    storage.remove("file")
    assert file.read_at(0, 1) == b"x"
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    storage.replace("another", b"y")
    with pytest.raises(OSError, match="Stale") as caught:
        file.read_at(0, 1)
    assert caught.value.errno == errno.ESTALE
    with pytest.raises(OSError, match="Stale"):
        file.size()
    with storage._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM chunk").fetchone() == (1,)


def test_a_sync_is_a_commit_that_reaches_the_disk(
    storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = storage.open("file", create=True)
    statements: list[str] = []
    with storage._database.reading() as connection:
        connection.set_trace_callback(statements.append)
    file.sync()
    assert statements == [
        "PRAGMA synchronous = FULL",
        "UPDATE durable SET syncs = syncs + 1",
        "PRAGMA synchronous = NORMAL",
    ]
