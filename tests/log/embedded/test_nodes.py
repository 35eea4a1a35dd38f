from __future__ import annotations

from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import StorageError
from penstock.log.embedded.nodes import NodeAnnouncement, nodes, token_of

TOKEN = bytes(range(32))


def test_the_view_follows_who_comes_and_goes(tmp_path: Path) -> None:
    clock = ManualClock(1000)
    assert nodes(tmp_path) == ()
    first = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN, clock=clock)
    clock.advance(5)
    second = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:2", TOKEN, clock=clock)
    assert nodes(tmp_path) == (first.info, second.info)
    first.withdraw()
    assert nodes(tmp_path) == (second.info,)
    clock.advance(5)
    again = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN, clock=clock)
    assert nodes(tmp_path) == (second.info, again.info)
    second.withdraw()
    again.withdraw()
    again.withdraw()
    assert nodes(tmp_path) == ()


def test_a_node_that_died_is_not_in_the_view_and_its_file_goes(tmp_path: Path) -> None:
    NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN).abandon()
    assert token_of(tmp_path, "tcp://127.0.0.1:1") is None
    assert nodes(tmp_path) == ()
    assert list((tmp_path / "nodes").iterdir()) == []


def test_the_token_is_for_its_owner_alone_and_not_in_the_view(tmp_path: Path) -> None:
    node = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN)
    (file,) = (tmp_path / "nodes").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert token_of(tmp_path, "tcp://127.0.0.1:1") == TOKEN
    assert token_of(tmp_path, "tcp://127.0.0.1:2") is None
    assert TOKEN.hex() not in str(nodes(tmp_path))
    node.withdraw()


@pytest.mark.parametrize("content", [b"no json", b"[]", b"{}", b'{"token": "xy"}'])
def test_a_file_that_is_no_node_is_passed_over(tmp_path: Path, content: bytes) -> None:
    broken = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN)
    (tmp_path / "nodes" / broken.info.node_id).write_bytes(content)
    (tmp_path / "nodes" / "link").symlink_to(tmp_path)
    whole = NodeAnnouncement(tmp_path, "tcp://127.0.0.1:2", TOKEN)
    assert nodes(tmp_path) == (whole.info,)
    broken.withdraw()
    whole.withdraw()


def test_a_home_that_cannot_be_written_is_a_coded_error(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("not a directory")
    with pytest.raises(StorageError, match="STORAGE_FAILED"):
        NodeAnnouncement(tmp_path, "tcp://127.0.0.1:1", TOKEN)
