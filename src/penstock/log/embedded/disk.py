"""The log's storage as a directory of plain files."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from penstock.log.embedded.lock import FlockLock
from penstock.log.embedded.watch import watch_files
from penstock.log.storage import Bytes, Watch

_MOST_PARTS = os.sysconf("SC_IOV_MAX") if "SC_IOV_MAX" in os.sysconf_names else 16
_TEMPORARY = ".tmp-"
_TEMPORARY_LEFT_BEHIND = 3600.0


class DiskFile:
    """A file read and written at explicit positions, so that threads and forks may share it."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read_at(self, position: int, length: int) -> bytes:
        """Give up to `length` bytes; fewer only at the end of the file."""
        data = os.pread(self._descriptor, length, position)
        if len(data) == length or not data:
            return data
        return self._read_on(data, position, length)

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        """Write the parts one after another, all of them, or raise OSError."""
        left = [view for view in map(_as_bytes, parts) if view.nbytes]
        while left:
            written = os.pwritev(self._descriptor, left[:_MOST_PARTS], position)
            if written == 0:
                raise OSError(errno.EIO, "the disk took none of the bytes")
            position += written
            left = _rest(left, written)

    def size(self) -> int:
        """The number of bytes in the file now."""
        # Half the time of fstat; nobody uses the file's own position.
        return os.lseek(self._descriptor, 0, os.SEEK_END)

    def truncate(self, size: int) -> None:
        """Cut the file, or extend it with zeros."""
        os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        """Return when what was written would survive a power cut."""
        if self._descriptor < 0:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if sys.platform == "darwin":
            fcntl.fcntl(self._descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()

    def _read_on(self, data: bytes, position: int, length: int) -> bytes:
        parts, have = [data], len(data)
        while have < length:
            data = os.pread(self._descriptor, length - have, position + have)
            if not data:
                break
            parts.append(data)
            have += len(data)
        return b"".join(parts)


class DiskStorage:
    """Files below one directory; several processes may use it at once."""

    __slots__ = ("_root", "_swept")

    def __init__(self, root: Path) -> None:
        self._root = os.fspath(root)
        self._swept: set[str] = set()

    def open(self, path: str, *, create: bool = False, write: bool = False) -> DiskFile:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        flags = os.O_RDWR if write or create else os.O_RDONLY
        if create:
            flags |= os.O_CREAT
        return DiskFile(os.open(self._at(path), flags | os.O_CLOEXEC, 0o666))

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        descriptor = os.open(self._at(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, os.lseek(descriptor, 0, os.SEEK_END), 0)
        finally:
            os.close(descriptor)

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        target = self._at(path)
        directory = target.rpartition("/")[0]
        self._sweep(directory)
        temporary = f"{directory}/{_TEMPORARY}{uuid.uuid4().hex}"
        try:
            _write_whole(temporary, content, sync=sync)
            Path(temporary).replace(target)
        except BaseException:
            _unlink(temporary)
            raise
        if sync:
            _sync_directory(directory)

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        try:
            with os.scandir(self._at(path)) as entries:
                names = [entry.name for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in names if not name.startswith(_TEMPORARY))

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        return os.access(self._at(path), os.F_OK)

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        Path(self._at(path)).mkdir(parents=True, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        source, target = Path(self._at(old)), Path(self._at(new))
        if not source.is_dir():
            source.replace(target)
            return
        # The kernel itself refuses to replace a directory that has something in it, which is
        # what matters when two processes race; an empty one it would silently replace.
        if target.exists():
            raise _taken(target)
        try:
            source.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
                raise _taken(target) from error
            raise

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        _unlink(self._at(path))

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        _remove_tree(self._at(path))

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power cut."""
        _sync_directory(self._at(path))

    def lock(self, path: str) -> FlockLock:
        """Make a lock on a name; it is not held yet."""
        return FlockLock(self._at(path))

    def watch(self, paths: Iterable[str]) -> Watch:
        """Watch existing files for changes."""
        return watch_files([self._at(path) for path in paths])

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def _sweep(self, directory: str) -> None:
        """Remove, once for each directory, what writers killed within `replace` left behind."""
        if directory in self._swept:
            return
        self._swept.add(directory)
        oldest = time.time() - _TEMPORARY_LEFT_BEHIND
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.startswith(_TEMPORARY) and _older(entry, oldest):
                    _unlink(entry.path)


def _as_bytes(part: Bytes) -> memoryview:
    view = memoryview(part)
    return view if view.format == "B" else view.cast("B")


def _rest(left: list[memoryview], written: int) -> list[memoryview]:
    """What is still to be written after the first `written` bytes."""
    for index, view in enumerate(left):
        if written < view.nbytes:
            return [view[written:], *left[index + 1 :]]
        written -= view.nbytes
    return []


def _write_whole(path: str, content: bytes, *, sync: bool) -> None:
    file = DiskFile(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    try:
        file.write_at(0, [content])
        if sync:
            file.sync()
    finally:
        file.close()


def _unlink(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _older(entry: os.DirEntry[str], moment: float) -> bool:
    try:
        return entry.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def _sync_directory(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_tree(path: str) -> None:
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _remove_tree(entry.path)
                else:
                    _unlink(entry.path)
        Path(path).rmdir()
    except FileNotFoundError:
        return
