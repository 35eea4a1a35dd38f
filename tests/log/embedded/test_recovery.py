"""What the next process finds after a killed writer or a power cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import CorruptionError, LogError, StorageError
from penstock.log.embedded import active
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.head import Head, create_head, read_head
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.root import ROOT_FILE
from penstock.log.embedded.sealed_json import seal
from penstock.log.open import open_log
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

SEGMENT = "topics/clicks/0/00000000000000000000.seg"
HEAD = "topics/clicks/0/head"


@pytest.fixture
def storage(tmp_path: Path) -> DiskStorage:
    return DiskStorage(tmp_path)


def _log(storage: DiskStorage, fsync: str = "always") -> EmbeddedLog:
    log = EmbeddedLog(storage, ManualClock(1))
    log.create_topic("clicks", config=TopicConfig().with_settings(fsync=fsync))
    return log


def _values(log: EmbeddedLog) -> list[bytes]:
    return list(log.read("clicks", 0, 0, ReadLimit()).rows["value"].to_pylist())


def _open_everything(storage: DiskStorage) -> None:
    log = EmbeddedLog(storage)
    log.topic("clicks")
    log.transaction("job")


def _head(storage: DiskStorage) -> Head:
    return read_head(storage.open(HEAD), HEAD)


def _set_head(storage: DiskStorage, head: Head) -> None:
    create_head(storage.open(HEAD, write=True), replace(head, change=head.change + 10))


def test_bytes_behind_the_head_are_cut_by_the_next_writer(storage: DiskStorage) -> None:
    log = _log(storage)
    log.append("clicks", 0, rows_of_bytes([b"a"]))
    file = storage.open(SEGMENT, write=True)
    acknowledged = file.size()
    file.write_at(acknowledged, [file.read_at(0, acknowledged)[:-1]])
    again = EmbeddedLog(storage)
    assert _values(again) == [b"a"]
    again.append("clicks", 0, rows_of_bytes([b"b"]))
    assert _values(log) == [b"a", b"b"]


def test_a_whole_frame_behind_the_head_was_never_acknowledged(storage: DiskStorage) -> None:
    log = _log(storage)
    log.append("clicks", 0, rows_of_bytes([b"a"]))
    before = _head(storage)
    log.append("clicks", 0, rows_of_bytes([b"unacknowledged"]))
    _set_head(storage, before)
    again = EmbeddedLog(storage)
    again.append("clicks", 0, rows_of_bytes([b"b"]))
    assert _values(again) == [b"a", b"b"]


def test_after_a_power_cut_synced_frames_behind_an_old_head_are_kept(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(storage)
    log.append("clicks", 0, rows_of_bytes([b"a"]), stamp=WriterStamp(5, 0, 0))
    before = _head(storage)
    log.append("clicks", 0, rows_of_bytes([b"acknowledged"]), stamp=WriterStamp(5, 0, 1))
    _set_head(storage, before)
    monkeypatch.setattr(active, "this_boot", lambda: b"another boot 012")
    again = EmbeddedLog(storage)
    repeated = again.append(
        "clicks", 0, rows_of_bytes([b"acknowledged"]), stamp=WriterStamp(5, 0, 1)
    )
    assert repeated.duplicate
    assert _values(again) == [b"a", b"acknowledged"]


def test_after_a_power_cut_an_abort_behind_an_old_head_stays_an_abort(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(storage)
    log.append("clicks", 0, rows_of_bytes([b"a"]))
    before = _head(storage)
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("clicks", 0, rows_of_bytes([b"aborted"]))
    transaction.abort()
    transaction.close()
    _set_head(storage, before)
    monkeypatch.setattr(active, "this_boot", lambda: b"another boot 012")
    again = EmbeddedLog(storage)
    again.append("clicks", 0, rows_of_bytes([b"b"]))
    assert _values(again) == [b"a", b"b"]


def test_changed_settings_reach_the_writers_of_other_handles_at_their_next_seal(
    storage: DiskStorage,
) -> None:
    log, other = _log(storage), EmbeddedLog(storage)
    log.create_topic("small", config=TopicConfig(segment_bytes=1000))
    log.append("small", 0, rows_of_bytes([b"a"]))
    other.configure_topic("small", TopicConfig(segment_bytes=1))
    for _ in range(5):
        log.append("small", 0, rows_of_bytes([b"b"]))
    assert [segment.records for segment in log.segments("small", 0)] == [2, 1, 1, 1, 1]


def test_after_a_power_cut_an_unsynced_topic_ends_at_its_last_whole_frame(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(storage, fsync="os")
    for value in (b"a", b"b", b"c"):
        log.append("clicks", 0, rows_of_bytes([value]))
    file = storage.open(SEGMENT, write=True)
    file.truncate(file.size() - 10)
    monkeypatch.setattr(active, "this_boot", lambda: b"another boot 012")
    again = EmbeddedLog(storage)
    assert again.append("clicks", 0, rows_of_bytes([b"d"])).base_offset == 2
    assert _values(again) == [b"a", b"b", b"d"]


def test_a_synced_topic_that_lost_bytes_is_damage_and_named(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(storage)
    log.append("clicks", 0, rows_of_bytes([b"a"]))
    file = storage.open(SEGMENT, write=True)
    file.truncate(file.size() - 10)
    with pytest.raises(CorruptionError, match=r"FRAME_CORRUPT.*clicks/0/0+\.seg"):
        _values(EmbeddedLog(storage))
    monkeypatch.setattr(active, "this_boot", lambda: b"another boot 012")
    with pytest.raises(CorruptionError, match=r"SEGMENT_SHORT.*clicks/0/0+\.seg"):
        EmbeddedLog(storage).append("clicks", 0, rows_of_bytes([b"b"]))


def test_writers_are_known_again_without_their_saved_table(storage: DiskStorage) -> None:
    log = _log(storage)
    for number in range(3):
        log.append("clicks", 0, rows_of_bytes([b"x"]), stamp=WriterStamp(5, 0, number))
        log.partition("clicks", 0).appender.roll()
    log.close()
    storage.remove("topics/clicks/0/writers")
    again = EmbeddedLog(storage)
    assert again.append("clicks", 0, rows_of_bytes([b"x"]), stamp=WriterStamp(5, 0, 2)).duplicate


def test_a_directory_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photos.zip").write_bytes(b"x")
    with pytest.raises(LogError, match=r"NOT_A_LOG.*photos\.zip"):
        EmbeddedLog(DiskStorage(tmp_path))


def test_a_log_of_a_newer_format_is_refused(storage: DiskStorage) -> None:
    _log(storage)
    storage.replace(ROOT_FILE, seal({"format": 99}))
    with pytest.raises(LogError, match="LOG_NEWER"):
        EmbeddedLog(storage)


def test_damaged_root_topic_and_transaction_files_are_named(storage: DiskStorage) -> None:
    log = _log(storage)
    log.transaction("job").close()
    for path, code in (
        ("topics/clicks/topic.json", "TOPIC_CORRUPT"),
        (f"transactions/{storage.list('transactions')[0].split('-')[0].split('.')[0]}",
         "TRANSACTION_CORRUPT"),
        (ROOT_FILE, "ROOT_CORRUPT"),
    ):  # fmt: skip
        data = bytearray(storage.read(path))
        data[-3] ^= 4
        storage.replace(path, bytes(data))
        with pytest.raises(CorruptionError, match=code):
            _open_everything(storage)
        data[-3] ^= 4
        storage.replace(path, bytes(data))


def test_a_home_that_is_a_file_or_not_ours_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a directory")
    with pytest.raises(StorageError, match="STORAGE_FAILED"):
        open_log(tmp_path / "home")


def test_a_read_only_disk_is_a_coded_error(
    storage: DiskStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _log(storage)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(DiskStorage, "open", refuse)
    with pytest.raises(StorageError, match="ACCESS_DENIED"):
        log.append("clicks", 0, rows_of_bytes([b"x"]))
