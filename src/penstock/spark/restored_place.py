"""Where a program goes on that takes over the states of a savepoint."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import OffsetError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.spark.inputs import input_log
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_start import start_offsets
from penstock.spark.progress_file import Start
from penstock.spark.state_mapping import Mapped, renamed_counts


def restored_place(saved: Start, mapped: Mapped, physical: Physical, log: Log) -> Start:
    """Give where a program begins: at the saved place, and in topics that are new as they say."""
    own = input_log(log, physical)
    at = _positions(saved.offset, physical, own)
    left = saved.left
    if left is None:
        return Start(at)
    return Start(at, replace(renamed_counts(left, mapped, physical), at=at))


def _positions(saved: ProgramOffset, physical: Physical, log: Log) -> ProgramOffset:
    topics = sorted({scan.stream.topic for scan in physical.scans})
    known = {name: id_ for name, id_ in saved.topics.items() if name in topics}
    replace(saved, topics=known).require_same_topics(log)
    bounds = log.snapshot(topics)
    fresh = start_offsets(physical, log)
    positions: dict[TopicPartition, int] = {}
    for place, bound in bounds.items():
        # A partition that was added since is read whole.
        first = bound.start if place.topic in known else fresh[place]
        at = saved.positions.get(place, first)
        if not bound.start <= at <= bound.end:
            raise OffsetError(
                "OFFSET_EXPIRED",
                f'the savepoint is at offset {at} of partition "{place}", which has'
                f" {bound.start} to {bound.end}",
                hint="The records it goes on with are gone: use a later savepoint, or rewind the"
                " job.",
            )
        positions[place] = at
    ids = {name: log.topic(name).topic_id for name in topics}
    return replace(saved, positions=positions, topics=ids)
