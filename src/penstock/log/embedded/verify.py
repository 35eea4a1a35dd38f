"""Checking a log at rest: every frame, list, index and document against its checksum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from penstock.errors import CorruptionError
from penstock.log.embedded.aborted import aborted_file, read_aborted
from penstock.log.embedded.catalog import TOPIC_FILE, TOPICS, Catalog
from penstock.log.embedded.cleaned_state import CLEANED_FILE
from penstock.log.embedded.group_files import GROUPS_DIRECTORY
from penstock.log.embedded.head import HEAD_FILE, SLOT_SIZE, Head, decode_head
from penstock.log.embedded.index import ENTRY_SIZE, decode_index
from penstock.log.embedded.manifest import (
    SealedSegment,
    manifest_file,
    read_manifest,
)
from penstock.log.embedded.root import ROOT_FILE
from penstock.log.embedded.sealed_json import unseal
from penstock.log.embedded.sealing import active_segment
from penstock.log.embedded.segment_scan import scan_segment
from penstock.log.embedded.transaction_file import TRANSACTIONS
from penstock.log.embedded.writers import WRITERS_FILE
from penstock.log.storage import Storage

_NAMED_BYTE = re.compile(r"byte (\d+)")
_TRIES = 10


class Finding(NamedTuple):
    """Something on disk that is not what was written: the file, the byte, and what it is."""

    file: str
    byte: int
    what: str


def verify_log(
    storage: Storage, catalog: Catalog, topics: Iterable[str] | None
) -> Iterator[Finding]:
    """Read everything a log keeps, or only some topics, and give what is hurt."""
    if topics is None:
        documents = [ROOT_FILE]
        documents += [
            f"{TRANSACTIONS}/{name}" for name in storage.list(TRANSACTIONS) if name.isdigit()
        ]
        documents += [
            f"{GROUPS_DIRECTORY}/{name}/offsets" for name in storage.list(GROUPS_DIRECTORY)
        ]
        for path in documents:
            yield from _check_document(storage, path)
    for name in catalog.names() if topics is None else topics:
        yield from _verify_topic(storage, name)


def verify_partition(storage: Storage, directory: str) -> list[Finding]:
    """Check one partition; where it is cleaned meanwhile, look again."""
    for _ in range(_TRIES):
        head, findings = check_head(storage, directory)
        if head is None:
            return findings
        try:
            return [*findings, *_check_files(storage, directory, head)]
        except FileNotFoundError as error:
            again, _ = check_head(storage, directory)
            if again is not None and again.manifest_generation == head.manifest_generation:
                missing = str(error.filename or directory)
                return [*findings, Finding(missing, 0, "the file is missing")]
    return []


def _verify_topic(storage: Storage, name: str) -> Iterator[Finding]:
    yield from _check_document(storage, f"{TOPICS}/{name}/{TOPIC_FILE}")
    for partition in storage.list(f"{TOPICS}/{name}"):
        if partition.isdigit():
            yield from verify_partition(storage, f"{TOPICS}/{name}/{partition}")


def _check_document(storage: Storage, path: str) -> Iterator[Finding]:
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return
    if unseal(data) is None:
        yield Finding(path, 0, "the document fails its checksum")


def check_head(storage: Storage, directory: str) -> tuple[Head | None, list[Finding]]:
    """Give the newest intact head of a partition, if any, and which copies of it are hurt."""
    path = f"{directory}/{HEAD_FILE}"
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return None, [Finding(path, 0, "the file is missing")]
    slots = [data[:SLOT_SIZE], data[SLOT_SIZE : 2 * SLOT_SIZE]]
    heads = [decode_head(slot) for slot in slots]
    findings = [
        Finding(path, number * SLOT_SIZE, "a copy of the head fails its checksum")
        for number, slot in enumerate(slots)
        if heads[number] is None and slot.strip(b"\0")
    ]
    valid = [head for head in heads if head is not None]
    if not valid:
        return None, findings or [Finding(path, 0, "the head is empty")]
    return max(valid, key=lambda head: head.change), findings


def _check_files(storage: Storage, directory: str, head: Head) -> Iterator[Finding]:
    for name in (WRITERS_FILE, CLEANED_FILE):
        yield from _check_document(storage, f"{directory}/{name}")
    generation = head.manifest_generation
    aborted = f"{directory}/{aborted_file(generation)}"
    yield from _checked(aborted, lambda: read_aborted(storage, aborted, head.aborted_count))
    path = f"{directory}/{manifest_file(generation)}"
    hurt = list(_checked(path, lambda: read_manifest(storage, path, head.sealed_count)))
    yield from hurt
    if not hurt:
        for segment in read_manifest(storage, path, head.sealed_count).segments:
            yield from _check_segment(storage, directory, segment)
    yield from _check_segment(storage, directory, active_segment(head))


def _checked(path: str, read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except CorruptionError as error:
        named = _NAMED_BYTE.search(error.fact)
        yield Finding(path, int(named[1]) if named else 0, error.fact)


def _check_segment(storage: Storage, directory: str, segment: SealedSegment) -> Iterator[Finding]:
    path = f"{directory}/{segment.name}.seg"
    file = storage.open(path)
    ends: dict[int, int] = {}
    expected, records = segment.base_offset, 0
    try:
        if file.size() < segment.size:
            what = f"the segment ends here, its list names {segment.size} bytes"
            yield Finding(path, file.size(), what)
        for position, end, frame, what in scan_segment(file, min(segment.size, file.size())):
            if frame is None:
                yield Finding(path, position, what)
                continue
            if frame.base_offset < expected or frame.next_offset > segment.next_offset:
                yield Finding(path, position, f"offset {frame.base_offset} is out of its order")
            expected = frame.next_offset
            records += 0 if frame.is_marker else frame.records
            ends[end] = frame.next_offset
    finally:
        file.close()
    if records != segment.records:
        yield Finding(path, 0, f"the segment has {records} records, its list {segment.records}")
    yield from _check_index(storage, f"{directory}/{segment.name}.idx", segment.size, ends)


def _check_index(storage: Storage, path: str, size: int, ends: dict[int, int]) -> Iterator[Finding]:
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return
    for start in range(0, len(data) // ENTRY_SIZE * ENTRY_SIZE, ENTRY_SIZE):
        entries = decode_index(data[start : start + ENTRY_SIZE])
        if not entries:
            yield Finding(path, start, "an entry of the index fails its checksum")
        elif entries[0].position <= size and ends.get(entries[0].position) != entries[0].offset:
            yield Finding(path, start, "an entry of the index names no frame")
