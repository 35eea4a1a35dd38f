from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from penstock.errors import ChannelError, TopicError
from penstock.log.announcement import remove_stale
from penstock.log.channel.address import (
    Address,
    Registration,
    Window,
    channel_directory,
    read_address,
    receiver_ids,
)

HERE = Address("0123abcd", 4711, bytes(range(32)), Window(10, 1000))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return channel_directory(tmp_path, "orders")


def test_an_address_reads_as_it_was_registered(directory: Path) -> None:
    registration = Registration(directory, HERE)
    assert receiver_ids(directory) == ["0123abcd"]
    assert read_address(directory / "0123abcd") == HERE
    registration.withdraw()
    assert receiver_ids(directory) == []
    registration.withdraw()


def test_only_the_owner_can_read_the_token(directory: Path) -> None:
    registration = Registration(directory, HERE)
    assert (directory / "0123abcd").stat().st_mode & 0o777 == 0o600
    registration.withdraw()


def test_the_address_of_a_dead_receiver_is_removed_by_who_reads_it(directory: Path) -> None:
    Registration(directory, HERE).abandon()
    assert receiver_ids(directory) == ["0123abcd"]
    assert read_address(directory / "0123abcd") is None
    assert receiver_ids(directory) == []


def test_what_dead_receivers_left_is_removed_and_the_living_stay(directory: Path) -> None:
    Registration(directory, HERE).abandon()
    (directory / ".unfinished").touch()
    living = Registration(directory, Address("feed", 1, bytes(32), Window(1, 1)))
    assert remove_stale(directory) == 2
    assert [path.name for path in directory.iterdir()] == ["feed"]
    living.withdraw()


def test_a_file_taken_for_a_dead_one_while_it_is_made_is_made_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    def flock_after_tidying(descriptor: int, operation: int) -> None:
        if not tries:
            remove_stale(directory)
        tries.append(descriptor)
        os_flock(descriptor, operation)

    os_flock = fcntl.flock
    monkeypatch.setattr(
        fcntl,
        "flock",
        lambda fd, op: flock_after_tidying(fd, op) if op == fcntl.LOCK_EX else os_flock(fd, op),
    )
    registration = Registration(directory, HERE)
    assert len(tries) == 2
    assert read_address(directory / "0123abcd") == HERE
    registration.withdraw()


def test_an_address_that_vanished_is_no_address(directory: Path) -> None:
    assert read_address(directory / "0123abcd") is None
    assert receiver_ids(directory) == []
    assert remove_stale(directory) == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no json", "CHANNEL_ADDRESS"),
        (b"[]", "CHANNEL_ADDRESS"),
        (b"{}", "CHANNEL_ADDRESS"),
        (b'{"version": 1}', "CHANNEL_ADDRESS"),
        (
            json.dumps({"version": 1, "port": 1, "token": "00", "records": 1, "bytes": 1}).encode(),
            "CHANNEL_ADDRESS",
        ),
        (b'{"version": 2}', "CHANNEL_VERSION"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_coded_error(
    directory: Path, content: bytes, code: str
) -> None:
    registration = Registration(directory, HERE)
    (directory / "0123abcd").write_bytes(content)
    with pytest.raises(ChannelError, match=code):
        read_address(directory / "0123abcd")
    registration.withdraw()


def test_a_link_in_place_of_an_address_is_not_followed(directory: Path, tmp_path: Path) -> None:
    directory.mkdir(parents=True)
    (tmp_path / "elsewhere").touch()
    (directory / "feed").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ChannelError, match="CHANNEL_ADDRESS"):
        read_address(directory / "feed")
    assert (tmp_path / "elsewhere").exists()


def test_the_address_of_another_user_is_not_used(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registration = Registration(directory, HERE)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ChannelError, match="CHANNEL_ADDRESS"):
        read_address(directory / "0123abcd")
    registration.withdraw()


def test_a_home_that_cannot_be_written_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "channels").write_text("not a directory")
    with pytest.raises(ChannelError, match="CHANNEL_HOME"):
        Registration(channel_directory(tmp_path, "orders"), HERE)


@pytest.mark.parametrize("name", ["..", "a/b", "", "x" * 250])
def test_a_name_no_topic_has_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TopicError, match="TOPIC_NAME"):
        channel_directory(tmp_path, name)
