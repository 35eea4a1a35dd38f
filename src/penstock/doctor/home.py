"""Checks of the directory that holds the log: room, write access and locks."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.config import HOME, Settings
from penstock.doctor.machine import in_words
from penstock.errors import SetupError

_ROOM = 256 * 2**20
_KERNEL_LOCKS = Path("/proc/locks")
_MOVE = f"Or put the log elsewhere: {HOME.variable} or {HOME.flag}."


def check_disk(settings: Settings) -> str:
    """There is room for the log to grow."""
    place = _existing(settings.home)
    free = shutil.disk_usage(place).free
    if free < _ROOM:
        raise SetupError(
            "DISK_LOW",
            f'{in_words(free)} are free on the disk of "{place}"',
            hint=f"Free at least {in_words(_ROOM)}. {_MOVE}",
        )
    return f"{in_words(free)} free"


def check_write_access(settings: Settings) -> str:
    """A file can be made where the log is, or will be."""
    place = _existing(settings.home)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"penstock")
            file.flush()
    except OSError as error:
        raise SetupError(
            "HOME_NOT_WRITABLE",
            f'no file can be made in "{place}": {error.strerror}',
            hint=f"Give this user write access to the directory. {_MOVE}",
        ) from error
    return f"files can be made in {place}"


def check_locks(settings: Settings) -> str:
    """A lock keeps a second holder out, as the log's writers need; held ones are named."""
    place = _existing(settings.home)
    try:
        works = _keeps_out(place)
        reason = "a second holder got the lock, too"
    except OSError as error:
        works, reason = False, str(error.strerror)
    if not works:
        raise SetupError(
            "LOCKS_MISSING",
            f'files in "{place}" cannot be locked: {reason}',
            hint=f"Use a local disk, or a network one mounted with locks. {_MOVE}",
        )
    held = sorted(held_locks(settings.home))
    if not held:
        return "they work, none is held"
    return f"they work, {len(held)} held: " + ", ".join(f"{name} by {pid}" for name, pid in held)


def held_locks(home: Path, kernel: Path = _KERNEL_LOCKS) -> Iterator[tuple[str, str]]:
    """The files below home that a process has locked, where the kernel tells (Linux)."""
    try:
        lines = [line.split() for line in kernel.read_text().splitlines()]
    except OSError:
        return
    # "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF"; a waiter has "->" as its second word.
    # Looked at rather than tried: a lock that we take, if only for a moment, could fail a writer.
    holders = {
        int(words[5].rpartition(":")[2]): f"process {words[4]}"
        for words in lines
        if words[1] == "FLOCK"
    }
    for file in home.rglob("*") if holders else ():
        if file.is_file() and file.stat().st_ino in holders:
            yield str(file.relative_to(home)), holders[file.stat().st_ino]


def _keeps_out(place: Path) -> bool:
    with tempfile.NamedTemporaryFile(dir=place) as first, Path(first.name).open("rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _existing(home: Path) -> Path:
    """The directory itself or, where it is not made yet, the nearest one above it."""
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    if not place.is_dir():
        raise SetupError(
            "HOME_NOT_A_DIRECTORY",
            f'home "{home}" cannot be a directory: "{place}" is a file',
            hint=f"Move the file away. {_MOVE}",
        )
    return place
