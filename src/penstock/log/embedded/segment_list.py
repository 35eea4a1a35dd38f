"""Changing which segments a partition has, so that readers and a crash see the old or the new."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from penstock.log.embedded.aborted import (
    AbortedTransaction,
    aborted_file,
    encode_aborted,
    read_aborted,
)
from penstock.log.embedded.appender import PartitionAppender
from penstock.log.embedded.head import Head
from penstock.log.embedded.manifest import (
    SealedSegment,
    encode_manifest,
    manifest_file,
    read_manifest,
    segment_name,
)
from penstock.log.storage import Storage

CLEAN_LOCK_FILE = "clean.lock"


@dataclass(frozen=True, slots=True)
class ListChange:
    """Neighbouring segments go, others take their place; so do their aborted transactions."""

    gone: tuple[SealedSegment, ...]
    new: tuple[SealedSegment, ...] = ()
    aborted: tuple[AbortedTransaction, ...] = ()
    start_offset: int = 0


class SegmentList:
    """Switches a partition's list of segments; whoever uses it holds the partition's clean lock."""

    def __init__(self, storage: Storage, directory: str, appender: PartitionAppender) -> None:
        self._storage = storage
        self._directory = directory
        self._appender = appender

    def change(self, change: ListChange) -> None:
        """Make a change visible at one instant, then remove what is gone.

        The lists of the next generation are written beside the present ones; the head
        names either these or those. Only when the head would survive a power cut are
        the files of the present ones removed.
        """
        with self._appender.locked() as head:
            segments = self._changed_segments(head, change)
            aborted = self._changed_aborted(head, change)
            self.switch(head, segments, aborted, start_offset=change.start_offset)
        self._remove_lists(head.manifest_generation)
        self.remove_segments(item.name for item in change.gone)

    def switch(
        self,
        head: Head,
        segments: tuple[SealedSegment, ...],
        aborted: tuple[AbortedTransaction, ...],
        *,
        start_offset: int,
    ) -> None:
        """Publish whole new lists; call it while the partition is locked."""
        generation = head.manifest_generation + 1
        path = f"{self._directory}/{manifest_file(generation)}"
        self._storage.replace(path, encode_manifest(generation, segments), sync=True)
        path = f"{self._directory}/{aborted_file(generation)}"
        self._storage.replace(path, encode_aborted(aborted), sync=True)
        self._storage.sync_directory(self._directory)
        following = replace(
            head,
            start_offset=max(head.start_offset, start_offset),
            manifest_generation=generation,
            sealed_count=len(segments),
            aborted_count=len(aborted),
        )
        self._appender.publish_durably(following)

    def remove_segments(self, names: Iterable[str]) -> None:
        """Remove the files of segments that no list names any more."""
        for name in names:
            self._storage.remove(f"{self._directory}/{name}.seg")
            self._storage.remove(f"{self._directory}/{name}.idx")

    def remove_leftovers(self, head: Head) -> None:
        """Remove what a killed cleaner left behind; `head` was read under the clean lock.

        An appender may be about to make the next active segment: only what lies before
        the present one is judged.
        """
        path = f"{self._directory}/{manifest_file(head.manifest_generation)}"
        manifest = read_manifest(self._storage, path, head.sealed_count)
        named = {item.name for item in manifest.segments}
        active = segment_name(head.active_base)
        lists = {manifest_file(head.manifest_generation), aborted_file(head.manifest_generation)}
        for name in self._storage.list(self._directory):
            stem, _, kind = name.partition(".")
            is_leftover = (
                kind in {"seg", "idx"} and stem not in named and (stem < active or "-" in stem)
            ) or (name.startswith(("manifest-", "aborted-")) and name not in lists)
            if is_leftover:
                self._storage.remove(f"{self._directory}/{name}")

    def _remove_lists(self, generation: int) -> None:
        self._storage.remove(f"{self._directory}/{manifest_file(generation)}")
        self._storage.remove(f"{self._directory}/{aborted_file(generation)}")

    def _changed_segments(self, head: Head, change: ListChange) -> tuple[SealedSegment, ...]:
        path = f"{self._directory}/{manifest_file(head.manifest_generation)}"
        present = read_manifest(self._storage, path, head.sealed_count).segments
        begin = present.index(change.gone[0])
        return (*present[:begin], *change.new, *present[begin + len(change.gone) :])

    def _changed_aborted(self, head: Head, change: ListChange) -> tuple[AbortedTransaction, ...]:
        path = f"{self._directory}/{aborted_file(head.manifest_generation)}"
        present = read_aborted(self._storage, path, head.aborted_count)
        begin, end = change.gone[0].base_offset, change.gone[-1].next_offset
        kept = [item for item in present if not begin <= item.last_offset < end]
        return tuple(sorted((*kept, *change.aborted), key=lambda item: item.last_offset))
