"""Sealing the active segment: it joins the manifest, and an empty one takes its place."""

from __future__ import annotations

from dataclasses import replace

from penstock.log.embedded.active import ActiveSegment
from penstock.log.embedded.boot import this_boot
from penstock.log.embedded.head import NEWEST, OLDEST, Head
from penstock.log.embedded.manifest import (
    ENTRY_SIZE,
    HEADER_SIZE,
    SealedSegment,
    encode_entry,
    manifest_file,
)
from penstock.log.storage import Storage


def prepare_sealing(storage: Storage, directory: str, head: Head) -> ActiveSegment:
    """Make everything the next head will name, safe against a power cut; give the next segment.

    Until that head is published nothing of this counts.
    """
    following = ActiveSegment(storage, directory, head.end_offset)
    following.clear()
    manifest = storage.open(f"{directory}/{manifest_file(head.manifest_generation)}", write=True)
    try:
        position = HEADER_SIZE + head.sealed_count * ENTRY_SIZE
        manifest.write_at(position, [encode_entry(active_segment(head))])
        manifest.sync()
    finally:
        manifest.close()
    storage.sync_directory(directory)
    return following


def head_after_sealing(head: Head) -> Head:
    """The head that makes the next segment the active one."""
    return replace(
        head,
        boot=this_boot(),
        active_base=head.end_offset,
        end_position=0,
        synced_position=0,
        active_records=0,
        active_min_timestamp=NEWEST,
        active_max_timestamp=OLDEST,
        active_since=-1,
        sealed_count=head.sealed_count + 1,
    )


def active_segment(head: Head) -> SealedSegment:
    """The published part of the active segment, as if it were sealed now."""
    return SealedSegment(
        head.active_base,
        head.end_offset,
        0,
        head.end_position,
        head.active_records,
        head.active_min_timestamp,
        head.active_max_timestamp,
    )
