"""Where a receiver listens, written where its senders look: `<home>/channels/<name>/<id>`.

It is an announcement: gone with its receiver, and readable by its owner only, since it holds
the token that opens the socket.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from penstock.errors import ChannelError
from penstock.log.announcement import Announcement, announced, read_announcement
from penstock.log.channel.frame import TOKEN_BYTES, VERSION, version_mismatch
from penstock.log.topic import check_topic_name

LOOPBACK = "127.0.0.1"


class Window(NamedTuple):
    """How much one sender may have waiting at a receiver."""

    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Address:
    """How a sender reaches a receiver: the port, the token it asks for, the room it gives."""

    receiver_id: str
    port: int
    token: bytes
    window: Window


def channel_directory(home: Path, name: str) -> Path:
    """Where the receivers of a channel leave their addresses; a name no topic has is refused."""
    check_topic_name(name)
    return home / "channels" / name


class Registration:
    """Keeps an address visible to senders from construction until `withdraw`."""

    __slots__ = ("_announcement",)

    def __init__(self, directory: Path, address: Address) -> None:
        try:
            self._announcement = Announcement(directory / address.receiver_id, _encode(address))
        except OSError as failure:
            raise ChannelError(
                "CHANNEL_HOME",
                f'channel directory "{directory}" cannot be written: {failure.strerror}',
                hint="Point PENSTOCK_HOME at a directory you may write.",
            ) from failure

    def withdraw(self) -> None:
        """Remove the address; senders stop seeing this receiver."""
        self._announcement.withdraw()

    def abandon(self) -> None:
        """Let go of the lock and leave the file, as a process does that dies."""
        self._announcement.abandon()


def receiver_ids(directory: Path) -> list[str]:
    """The names of the addresses in a directory, those of dead receivers included."""
    return announced(directory)


def read_address(path: Path) -> Address | None:
    """Give the address in a file; None where its receiver is gone, whose file is removed."""
    try:
        content = read_announcement(path)
    except OSError as failure:
        raise _unreadable(path, str(failure.strerror)) from failure
    return None if content is None else _decode(path, content)


def _encode(address: Address) -> bytes:
    fields = {
        "version": VERSION,
        "port": address.port,
        "token": address.token.hex(),
        "records": address.window.records,
        "bytes": address.window.bytes,
        "pid": os.getpid(),
    }
    return json.dumps(fields).encode()


def _decode(path: Path, content: bytes) -> Address:
    try:
        fields = json.loads(content)
        version = fields["version"]
    except (ValueError, KeyError, TypeError) as failure:
        raise _unreadable(path, "it is not an address") from failure
    if version != VERSION:
        raise version_mismatch("receiver", version)
    try:
        window = Window(int(fields["records"]), int(fields["bytes"]))
        address = Address(path.name, int(fields["port"]), bytes.fromhex(fields["token"]), window)
    except (ValueError, KeyError, TypeError) as failure:
        raise _unreadable(path, "it is not an address") from failure
    if len(address.token) != TOKEN_BYTES:
        raise _unreadable(path, "its token is cut")
    return address


def _unreadable(path: Path, why: str) -> ChannelError:
    return ChannelError(
        "CHANNEL_ADDRESS",
        f'channel address "{path}" cannot be used: {why}',
        hint="Remove the file, or restart the receiver that wrote it.",
    )
