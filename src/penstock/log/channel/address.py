"""Where a receiver listens, written where its senders look: `<home>/channels/<name>/<id>`.

The file is readable by its owner only, since it holds the token that opens the socket, and
its writer keeps it locked: a file that can be locked belongs to a process that died.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from penstock.errors import ChannelError
from penstock.log.channel.frame import TOKEN_BYTES, VERSION, version_mismatch
from penstock.log.topic import check_topic_name

LOOPBACK = "127.0.0.1"
_UNFINISHED = "."


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

    __slots__ = ("_descriptor", "_path")

    def __init__(self, directory: Path, address: Address) -> None:
        self._path = directory / address.receiver_id
        unfinished = directory / f"{_UNFINISHED}{address.receiver_id}"
        self._descriptor = -1
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._descriptor = _create_locked(unfinished)
            os.write(self._descriptor, _encode(address))
            # Senders see the name only with the content complete and the lock held.
            unfinished.rename(self._path)
        except OSError as failure:
            self.withdraw()
            raise ChannelError(
                "CHANNEL_HOME",
                f'channel directory "{directory}" cannot be written: {failure.strerror}',
                hint="Point PENSTOCK_HOME at a directory you may write.",
            ) from failure

    def withdraw(self) -> None:
        """Remove the address; senders stop seeing this receiver."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the lock and leave the file, as a process does that dies."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _create_locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            os.close(descriptor)
            raise
        if os.fstat(descriptor).st_nlink:
            return descriptor
        # Another process tidying up took the file for a dead one between our two calls.
        os.close(descriptor)


def receiver_ids(directory: Path) -> list[str]:
    """The names of the addresses in a directory, those of dead receivers included."""
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(_UNFINISHED)]
    except OSError:
        return []


def remove_stale(directory: Path) -> int:
    """Remove what receivers that died left behind; give their number."""
    with suppress(OSError):
        return sum(_remove_if_stale(path) for path in directory.iterdir())
    return 0


def _remove_if_stale(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _is_stale(descriptor) and _remove(path)
    finally:
        os.close(descriptor)


def read_address(path: Path) -> Address | None:
    """Give the address in a file; None where its receiver is gone, whose file is removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise _unreadable(path, str(failure.strerror)) from failure
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise _unreadable(path, "it belongs to another user")
        if _is_stale(descriptor):
            _remove(path)
            return None
        return _decode(path, os.read(descriptor, 64 * 1024))
    finally:
        os.close(descriptor)


def _is_stale(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _remove(path: Path) -> bool:
    with suppress(OSError):
        path.unlink()
        return True
    return False


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
