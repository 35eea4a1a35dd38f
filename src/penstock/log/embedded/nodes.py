"""The servers that offer a home's log now: each announces itself in `<home>/nodes/<id>`.

The announcement is gone with its server, however that ended, so the view is what lives.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.log.announcement import (
    Announcement,
    announced,
    read_announcement,
    remove_stale,
)
from penstock.log.embedded.refusals import coded_storage_errors


class NodeInfo(NamedTuple):
    """A server of a log; the time is in milliseconds since 1970."""

    node_id: str
    pid: int
    address: str
    started_at: int


def nodes(home: Path) -> tuple[NodeInfo, ...]:
    """The servers of a home's log that live now, oldest first."""
    found = (node for node, _ in _announced_nodes(home))
    return tuple(sorted(found, key=lambda node: (node.started_at, node.node_id)))


def token_of(home: Path, address: str) -> bytes | None:
    """The token that opens a living server's socket; None where none has this address."""
    for node, token in _announced_nodes(home):
        if node.address == address:
            return token
    return None


class NodeAnnouncement:
    """Keeps a server in the view from construction until `withdraw`."""

    def __init__(
        self, home: Path, address: str, token: bytes, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.info = NodeInfo(secrets.token_hex(8), os.getpid(), address, clock.now())
        directory = _directory(home)
        content = json.dumps({**self.info._asdict(), "token": token.hex()}).encode()
        with coded_storage_errors(f'announcing a server in "{directory}"'):
            remove_stale(directory)
            self._announcement = Announcement(directory / self.info.node_id, content)

    def withdraw(self) -> None:
        """Leave the view; leaving twice is harmless."""
        self._announcement.withdraw()

    def abandon(self) -> None:
        """Let go of the announcement in a forked child: it is the parent's."""
        self._announcement.abandon()


def _directory(home: Path) -> Path:
    return home / "nodes"


def _announced_nodes(home: Path) -> Iterator[tuple[NodeInfo, bytes]]:
    directory = _directory(home)
    for name in announced(directory):
        try:
            content = read_announcement(directory / name)
            if content is not None:
                fields = json.loads(content)
                token = bytes.fromhex(fields.pop("token"))
                yield NodeInfo(**fields), token
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # Another user's server, or a file that is none: no node of ours.
            continue
