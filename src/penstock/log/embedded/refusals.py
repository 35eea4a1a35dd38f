"""Turns what the storage refuses into errors that say what to do."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from penstock.errors import StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextlib.contextmanager
def coded_storage_errors(doing: str) -> Iterator[None]:
    """Give every OSError inside a with block a code, a fact and a hint."""
    try:
        yield
    except OSError as error:
        raise _coded(doing, error) from error


def _coded(doing: str, error: OSError) -> StorageError:
    reason = error.strerror or str(error)
    where = f' ("{error.filename}")' if error.filename else ""
    if error.errno in _FULL:
        return StorageError(
            "DISK_FULL",
            f"{doing} failed: {reason}{where}",
            hint="Free some space and try again; everything acknowledged before is intact.",
        )
    if error.errno in _DENIED:
        return StorageError(
            "ACCESS_DENIED",
            f"{doing} failed: {reason}{where}",
            hint="Give this user read and write access to the log's directory.",
        )
    if error.errno == errno.ENOTDIR:
        return StorageError(
            "STORAGE_FAILED",
            f"{doing} failed: {reason}{where}",
            hint="Name a directory, or a new one, where a file is now.",
        )
    return StorageError(
        "STORAGE_FAILED",
        f"{doing} failed: {reason}{where}",
        hint="Check the disk; everything acknowledged before is intact.",
    )
