"""Snapshots as files of the checkpoint: one a snapshot, and the number of the one that counts."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

from penstock.errors import StateError
from penstock.inline.state_store import Bucket, Cut, Found
from penstock.log.port import Transaction
from penstock.spark.job_files import write_durably

_LENGTH = struct.Struct("<I")


class LocalStore:
    """The snapshots of one checkpoint."""

    survives = True

    def __init__(self, checkpoint: Path) -> None:
        self._folder = checkpoint / "inline"

    def current(self) -> int | None:
        """Give the number of the snapshot that counts; none before the first."""
        try:
            return int((self._folder / "current").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise StateError(
                "SNAPSHOT_BROKEN",
                f'"{self._folder / "current"}" does not say which snapshot counts',
                hint="Start with a new checkpoint; the topics still have every record.",
            ) from error

    def read(self, number: int) -> Found | None:
        """Give a snapshot; one that is not what was written is refused."""
        path = self._path(number)
        if not path.exists():
            return None
        try:
            whole = memoryview(path.read_bytes())
            (length,) = _LENGTH.unpack_from(whole)
            index: dict[str, Any] = json.loads(bytes(whole[_LENGTH.size : _LENGTH.size + length]))
        except (OSError, struct.error, ValueError) as error:
            raise StateError(
                "SNAPSHOT_BROKEN",
                f"snapshot {number} of the program cannot be read: {error}",
                hint="Start with a new checkpoint; the topics still have every record.",
            ) from error
        at = _LENGTH.size + length
        header = bytes(whole[at : at + index["header"]])
        at += index["header"]
        blobs: dict[Bucket, bytes] = {}
        for operator, bucket, size in index["states"]:
            blobs[operator, bucket] = bytes(whole[at : at + size])
            at += size
        return Found(number, header, blobs, "local")

    def write(self, cut: Cut, within: Transaction | None) -> None:  # noqa: ARG002
        """Store a snapshot, which counts once it is noted or its transaction is committed."""
        buckets = sorted(cut.buckets)
        blobs = [cut.blob(bucket) for bucket in buckets]
        states = [[*bucket, len(blob)] for bucket, blob in zip(buckets, blobs, strict=True)]
        index = json.dumps({"header": len(cut.header), "states": states}).encode()
        whole = b"".join((_LENGTH.pack(len(index)), index, cut.header, *blobs))
        write_durably(self._path(cut.number), whole)

    def note(self, number: int) -> None:
        """Let a snapshot count, and remove those before it."""
        write_durably(self._folder / "current", str(number).encode())
        self.forget(number)

    def forget(self, number: int) -> None:
        """Remove all snapshots but one."""
        for path in self._folder.glob("memory-*"):
            if path != self._path(number):
                path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"memory-{number}"
