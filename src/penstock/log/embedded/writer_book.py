"""Keeps a partition's table of writers in step with its frames, across processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from penstock.log.embedded.frame import Frame
from penstock.log.embedded.head import Head
from penstock.log.embedded.manifest import manifest_file, read_manifest, segment_name
from penstock.log.embedded.segment import read_headers
from penstock.log.embedded.writers import (
    WRITERS_FILE,
    SavedWriters,
    WriterTable,
    writers_from_bytes,
)
from penstock.log.storage import Storage

_SAVE_AFTER_FRAMES = 1000
_NEVER = -1


class WriterBook:
    """The table of writers as of the partition's newest head."""

    def __init__(self, storage: Storage, directory: str) -> None:
        self._storage = storage
        self._directory = directory
        self._unsaved = 0
        self.forget()

    def forget(self) -> None:
        """Know nothing, so that the next `catch_up` reads what is on disk."""
        self.table = WriterTable()
        self.change = _NEVER
        self._place = (_NEVER, 0)

    def follow(self, frames: Iterable[Frame], head: Head) -> None:
        """Take note of frames that were just published with a head."""
        for frame in frames:
            self.table.follow(frame)
            self._unsaved += 1
        self.head_changed(head)
        if self._unsaved >= _SAVE_AFTER_FRAMES:
            self.save()

    def head_changed(self, head: Head) -> None:
        """Take note of a head that brought no frame."""
        self.change = head.change
        self._place = (head.active_base, head.end_position)

    def catch_up(self, head: Head) -> None:
        """Follow what other processes appended since this one looked last."""
        if self.change == _NEVER:
            saved = self._saved()
            if saved is not None:
                self.table = saved.table
                self._place = (saved.active_base, saved.position)
        for frame in self._frames_since(head):
            self.table.follow(frame)
            self._unsaved += 1
        self.head_changed(head)

    def save(self) -> None:
        """Save the table, so that a new process begins here; where that fails it reads more."""
        if self.change == _NEVER or not self._unsaved:
            return
        data = self.table.to_bytes(self.change, *self._place)
        with contextlib.suppress(OSError):
            self._storage.replace(f"{self._directory}/{WRITERS_FILE}", data)
            self._unsaved = 0

    def _saved(self) -> SavedWriters | None:
        try:
            return writers_from_bytes(self._storage.read(f"{self._directory}/{WRITERS_FILE}"))
        except FileNotFoundError:
            return None

    def _frames_since(self, head: Head) -> Iterator[Frame]:
        base, position = self._place
        if base == head.active_base and position <= head.end_position:
            yield from self._headers(segment_name(base), position, head.end_position)
            return
        path = f"{self._directory}/{manifest_file(head.manifest_generation)}"
        manifest = read_manifest(self._storage, path, head.sealed_count)
        for segment in manifest.segments:
            if segment.next_offset > base:
                resumed = segment.base_offset == base and segment.generation == 0
                begin = position if resumed and position <= segment.size else 0
                yield from self._headers(segment.name, begin, segment.size)
        yield from self._headers(segment_name(head.active_base), 0, head.end_position)

    def _headers(self, name: str, begin: int, end: int) -> Iterator[Frame]:
        path = f"{self._directory}/{name}.seg"
        file = self._storage.open(path)
        try:
            for frame, _ in read_headers(file, path, begin, end):
                yield frame
        finally:
            file.close()
