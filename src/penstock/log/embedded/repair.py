"""Rebuilding what can be rebuilt: heads, lists and indexes follow from the segments."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from penstock.log.embedded.aborted import aborted_file, encode_aborted
from penstock.log.embedded.appender import LOCK_FILE
from penstock.log.embedded.boot import this_boot
from penstock.log.embedded.cleaned_state import CLEANED_FILE
from penstock.log.embedded.head import HEAD_FILE, OLDEST, Head, create_head
from penstock.log.embedded.index import IndexEntry, encode_index_entry
from penstock.log.embedded.manifest import (
    SealedSegment,
    encode_manifest,
    manifest_file,
    segment_name,
)
from penstock.log.embedded.salvage import (
    FoundSegment,
    choose_segments,
    find_segments,
    sum_up,
    transactions_in,
)
from penstock.log.embedded.segment_list import CLEAN_LOCK_FILE
from penstock.log.embedded.segment_writer import SegmentWriter
from penstock.log.embedded.verify import Finding, check_head, verify_partition
from penstock.log.embedded.writers import WRITERS_FILE
from penstock.log.storage import Storage, held
from penstock.log.topic import TopicConfig


class Repaired(NamedTuple):
    """One thing that was done, or, where `done` is empty, one that could not be."""

    file: str
    done: str
    left: str = ""


def repair_partition(
    storage: Storage, directory: str, *, config: TopicConfig, now: int, cut_corrupt: bool
) -> list[Repaired]:
    """Repair a partition where `verify` finds it hurt; one that is whole is not touched."""
    with ExitStack() as stack:
        for name in (CLEAN_LOCK_FILE, LOCK_FILE):
            lock = storage.lock(f"{directory}/{name}")
            stack.callback(lock.close)
            stack.enter_context(held(lock))
        findings = verify_partition(storage, directory)
        if not findings:
            return []
        return _Repair(storage, directory, config, now).run(findings, cut_corrupt=cut_corrupt)


class _Repair:
    def __init__(self, storage: Storage, directory: str, config: TopicConfig, now: int) -> None:
        self._storage = storage
        self._directory = directory
        self._config = config
        self._now = now
        self._done: list[Repaired] = []

    def run(self, findings: Sequence[Finding], *, cut_corrupt: bool) -> list[Repaired]:
        hurt = {item.file.rpartition("/")[2] for item in findings}
        for name in (WRITERS_FILE, CLEANED_FILE):
            if name in hurt:
                self._storage.remove(f"{self._directory}/{name}")
                self._note(name, "removed: it is made anew from the segments")
        frames_hurt = any(name.endswith(".seg") for name in hurt)
        lists_hurt = any(name.startswith(("head", "manifest-", "aborted-")) for name in hurt)
        if lists_hurt or (frames_hurt and cut_corrupt):
            self._rebuild(cut_corrupt=cut_corrupt)
        for name in sorted(hurt):
            if name.endswith(".idx"):
                self._rebuild_index(name)
            if name.endswith(".seg") and not cut_corrupt:
                left = "has frames that are hurt: restore it from a copy, or cut them out"
                self._done.append(Repaired(f"{self._directory}/{name}", "", left))
        return self._done

    def _rebuild(self, *, cut_corrupt: bool) -> None:
        """Write lists of a new generation and a head that names them."""
        old, _ = check_head(self._storage, self._directory)
        generation = self._next_generation(old)
        segments = self._present_segments(old)
        if cut_corrupt:
            segments = [self._without_hurt(item, generation) for item in segments]
        opened, aborted = transactions_in(segments)
        last = segments[-1] if segments else FoundSegment(0, 0, ())
        ends_open = last.generation == 0 and not last.is_hurt
        sealed = _entries(segments[:-1] if ends_open and segments else segments, last)
        active = last.base_offset if ends_open else last.next_offset
        summed = sum_up(last.frames if ends_open else (), active)
        self._publish(
            replace(
                summed,
                change=self._now if old is None else old.change + 1,
                boot=this_boot(),
                start_offset=_start_offset(old, segments),
                end_position=last.end if ends_open else 0,
                manifest_generation=generation,
                sealed_count=len(sealed),
                aborted_count=len(aborted),
                open=opened,
            ),
            sealed,
            encode_aborted(aborted),
        )

    def _present_segments(self, head: Head | None) -> list[FoundSegment]:
        """The segments of the partition; of the newest only what was acknowledged."""
        segments = choose_segments(find_segments(self._storage, self._directory))
        if head is not None:
            segments = [item for item in segments if item.base_offset <= head.active_base]
        if not segments:
            return []
        last = segments[-1]
        if head is not None and last.base_offset == head.active_base:
            return [*segments[:-1], last.up_to(head.end_position)]
        return [*segments[:-1], last.without_tail()]

    def _publish(self, head: Head, sealed: Sequence[SealedSegment], aborted: bytes) -> None:
        generation, below = head.manifest_generation, self._directory
        self._storage.replace(
            f"{below}/{manifest_file(generation)}", encode_manifest(generation, sealed), sync=True
        )
        self._storage.replace(f"{below}/{aborted_file(generation)}", aborted, sync=True)
        self._storage.open(f"{below}/{segment_name(head.active_base)}.seg", create=True).close()
        self._storage.remove(f"{below}/{WRITERS_FILE}")
        self._storage.sync_directory(below)
        file = self._storage.open(f"{below}/{HEAD_FILE}", create=True)
        create_head(file, head)
        file.sync()
        file.close()
        self._note(HEAD_FILE, f"rebuilt from {len(sealed)} sealed segments and the active one")

    def _without_hurt(self, segment: FoundSegment, generation: int) -> FoundSegment:
        if not segment.is_hurt:
            return segment
        path = f"{self._directory}/{segment.name}.seg"
        source = self._storage.open(path)
        output = SegmentWriter(self._storage, self._directory, segment.base_offset, generation)
        for position, end, frame, _ in segment.scanned:
            if frame is not None:
                part = source.read_at(position, end - position)
                output.write(frame, [part], self._config.index_interval_bytes)
        output.finish(segment.next_offset)
        source.close()
        self._storage.rename(path, f"{self._directory}/{segment.name}.hurt-{self._now}")
        self._note(f"{segment.name}.seg", "set aside; its intact frames go on")
        found = find_segments(self._storage, self._directory)
        return next(
            item
            for item in found
            if (item.base_offset, item.generation) == (segment.base_offset, generation)
        )

    def _rebuild_index(self, name: str) -> None:
        stem = name.removesuffix(".idx")
        found = [
            item for item in find_segments(self._storage, self._directory) if item.name == stem
        ]
        if not found:
            return
        entries, newest, indexed = [], OLDEST, 0
        for _, end, frame, _ in found[0].scanned:
            if frame is None:
                continue
            if not frame.is_marker and frame.records:
                newest = max(newest, frame.max_timestamp)
            if end - indexed >= self._config.index_interval_bytes:
                entries.append(encode_index_entry(IndexEntry(frame.next_offset, end, newest)))
                indexed = end
        self._storage.replace(f"{self._directory}/{name}", b"".join(entries))
        self._note(name, "rebuilt from its segment")

    def _next_generation(self, head: Head | None) -> int:
        names = self._storage.list(self._directory)
        known = [int(name[9:]) for name in names if name.startswith("manifest-")]
        return max([*known, 0 if head is None else head.manifest_generation]) + 1

    def _note(self, name: str, done: str) -> None:
        self._done.append(Repaired(f"{self._directory}/{name}", done))


def _entries(segments: Sequence[FoundSegment], last: FoundSegment) -> list[SealedSegment]:
    """The entries of the manifest: each reaches to where the next begins."""
    bases = [item.base_offset for item in segments[1:]]
    end = last.base_offset if segments and segments[-1] is not last else last.next_offset
    return [item.sealed(after) for item, after in zip(segments, [*bases, end], strict=False)]


def _start_offset(head: Head | None, segments: Sequence[FoundSegment]) -> int:
    if head is not None:
        return head.start_offset
    return segments[0].base_offset if segments else 0
