from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

from penstock.config import Settings, load_settings
from penstock.doctor.home import check_disk, check_locks, check_write_access, held_locks
from penstock.errors import SetupError


def settings(home: Path) -> Settings:
    return load_settings({"home": str(home)}, environment={})


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_home_that_is_not_made_yet_is_judged_by_the_directory_above(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b"
    assert check_disk(settings(home)).endswith("free")
    assert check_write_access(settings(home)) == f"files can be made in {tmp_path}"
    assert check_locks(settings(home)) == "they work, none is held"
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_home_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for check in (check_disk, check_write_access, check_locks):
        with pytest.raises(SetupError, match="HOME_NOT_A_DIRECTORY") as caught:
            check(settings(file / "log"))
        assert f'"{file}" is a file' in caught.value.fact


def test_a_disk_that_is_nearly_full_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - 2**20, 2**20))
    with pytest.raises(SetupError, match="DISK_LOW") as caught:
        check_disk(settings(tmp_path))
    assert caught.value.fact.startswith("1.0 MiB are free")


def test_a_home_without_write_access_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Patched, not `chmod`: root may write everywhere.
    def refuse(**_: object) -> NoReturn:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(SetupError, match="HOME_NOT_WRITABLE") as caught:
        check_write_access(settings(tmp_path))
    assert caught.value.fact == f'no file can be made in "{tmp_path}": Permission denied'


def test_a_disk_whose_locks_keep_nobody_out_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    with pytest.raises(SetupError, match="LOCKS_MISSING") as caught:
        check_locks(settings(tmp_path))
    assert "a second holder got the lock, too" in caught.value.fact


def test_a_disk_without_locks_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(SetupError, match="LOCKS_MISSING") as caught:
        check_locks(settings(tmp_path))
    assert "No locks available" in caught.value.fact


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists its locks")
def test_a_held_lock_is_named_with_its_holder_until_it_is_freed(tmp_path: Path) -> None:
    file = tmp_path / "log" / "partition.lock"
    file.parent.mkdir()
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        said = check_locks(settings(tmp_path))
    assert said == f"they work, 1 held: log/partition.lock by process {os.getpid()}"
    assert check_locks(settings(tmp_path)) == "they work, none is held"


def test_where_the_kernel_lists_no_locks_none_are_named(tmp_path: Path) -> None:
    assert list(held_locks(tmp_path, kernel=tmp_path / "missing")) == []
