"""One consistent look at a partition: its head, its sealed segments, its aborted transactions."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import CorruptionError, TopicError
from penstock.log.embedded.aborted import AbortedTransaction, aborted_file, read_aborted
from penstock.log.embedded.head import HEAD_FILE, Head, read_head
from penstock.log.embedded.manifest import Manifest, manifest_file, read_manifest
from penstock.log.storage import File, Storage


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
        """The newest view; where retention or compaction came in between, a newer one."""
        while True:
            head = self.head()
            last = self._last
            if last is not None and last.head.change == head.change:
                return last
            found = self._view_of(head, last)
            if found is not None:
                self._last = found
                return found

    def _view_of(self, head: Head, last: View | None) -> View | None:
        if last is not None and last.manifest.generation != head.manifest_generation:
            last = None
        try:
            if last is not None and len(last.manifest.segments) == head.sealed_count:
                manifest = last.manifest
            else:
                manifest = self._read_manifest(head)
            if last is not None and last.head.aborted_count == head.aborted_count:
                return View(head, manifest, last.aborted, last.hidden)
            aborted = self._read_aborted(head)
        except (FileNotFoundError, CorruptionError):
            # A list that a newer one has replaced is gone: only if the head stays is it damage.
            if self.head().change != head.change:
                return None
            raise
        return View(head, manifest, aborted, frozenset(item.key for item in aborted))

    def _read_manifest(self, head: Head) -> Manifest:
        path = f"{self._directory}/{manifest_file(head.manifest_generation)}"
        return read_manifest(self._storage, path, head.sealed_count)

    def _read_aborted(self, head: Head) -> tuple[AbortedTransaction, ...]:
        path = f"{self._directory}/{aborted_file(head.manifest_generation)}"
        return read_aborted(self._storage, path, head.aborted_count)
