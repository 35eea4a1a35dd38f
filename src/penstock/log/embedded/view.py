"""One consistent look at a partition: its head, its sealed segments, its aborted transactions."""

from __future__ import annotations

import time
from dataclasses import dataclass

from penstock.errors import CorruptionError, TopicError
from penstock.log.embedded.aborted import AbortedTransaction, aborted_file, read_aborted
from penstock.log.embedded.head import HEAD_FILE, Head, read_head
from penstock.log.embedded.manifest import MANIFEST_FILE, Manifest, read_manifest
from penstock.log.storage import File, Storage

_TRIES = 200
_PAUSE = 0.005


@dataclass(frozen=True, slots=True)
class View:
    """What the partition was at one change of its head."""

    head: Head
    manifest: Manifest
    aborted: tuple[AbortedTransaction, ...]
    hidden: frozenset[tuple[int, int, int]]


class ViewReader:
    """Gives the newest view, reading only what changed since the last one."""

    def __init__(self, storage: Storage, directory: str) -> None:
        self._storage = storage
        self._directory = directory
        self._head_path = f"{directory}/{HEAD_FILE}"
        self._head_file: File = storage.open(self._head_path)
        self._last: View | None = None

    def head(self) -> Head:
        """The newest head; a deleted topic is refused."""
        head = read_head(self._head_file, self._head_path)
        if head.deleted:
            raise TopicError(
                "TOPIC_MISSING",
                f'the topic of "{self._directory}" was deleted',
                hint="Create it again, or list what exists with `penstock topics list`.",
            )
        return head

    def view(self) -> View:
        """The newest view; retention or compaction under way is waited out."""
        for _ in range(_TRIES):
            head = self.head()
            last = self._last
            if last is not None and last.head.change == head.change:
                return last
            found = self._view_of(head, last)
            if found is not None:
                self._last = found
                return found
            time.sleep(_PAUSE)
        raise CorruptionError(
            "MANIFEST_CORRUPT",
            f'the manifest of "{self._directory}" is not of the generation its head names',
            hint="Run `penstock log repair` to rebuild both from the segments.",
        )

    def _view_of(self, head: Head, last: View | None) -> View | None:
        same = last is not None and last.manifest.generation == head.manifest_generation
        if last is not None and same and len(last.manifest.segments) == head.sealed_count:
            manifest = last.manifest
        else:
            try:
                manifest = self._read_manifest(head)
            except (FileNotFoundError, CorruptionError):
                # A replacement under way looks the same as damage: only if it stays is it damage.
                if self.head().change != head.change:
                    return None
                raise
            if manifest.generation != head.manifest_generation:
                return None
        if last is not None and same and last.head.aborted_count == head.aborted_count:
            return View(head, manifest, last.aborted, last.hidden)
        try:
            aborted = self._read_aborted(head)
        except (FileNotFoundError, CorruptionError):
            if self.head().change != head.change:
                return None
            raise
        return View(head, manifest, aborted, frozenset(item.key for item in aborted))

    def _read_manifest(self, head: Head) -> Manifest:
        return read_manifest(
            self._storage, f"{self._directory}/{MANIFEST_FILE}", head.sealed_count
        )

    def _read_aborted(self, head: Head) -> tuple[AbortedTransaction, ...]:
        path = f"{self._directory}/{aborted_file(head.manifest_generation)}"
        return read_aborted(self._storage, path, head.aborted_count)
