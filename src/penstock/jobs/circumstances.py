"""What decides about an upgrade beside the programs: who else writes and reads, what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from penstock.jobs.definitions import definition_store
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.model.source import Stream
from penstock.plan.verdict import Lost
from penstock.spark.stored_program import program_of


def other_programs(home: Path, name: str) -> dict[str, Physical]:
    """Give the programs of all jobs but one."""
    return {
        other.name: _program(home, other.name, other.version, other.fingerprint)
        for other in definition_store(home).readable()
        if other.name != name
    }


@lru_cache(maxsize=256)
def _program(home: Path, name: str, version: int, fingerprint: str) -> Physical:
    """Give the program of a version, which stays as it is; each of many jobs asks for all."""
    del fingerprint
    return program_of(definition_store(home).program(name, version))


def writers_of(programs: Mapping[str, Physical]) -> dict[str, str]:
    """Give the job that writes each place."""
    return {
        output.sink.place: name
        for name, physical in programs.items()
        for output in physical.outputs
    }


def readers_of(
    programs: Mapping[str, Physical], log: Log, without: Iterable[str]
) -> dict[str, str]:
    """Give a job or a consumer group that reads each topic, but those that are left out."""
    left_out = {*without}
    found = {
        scan.stream.topic: name for name, physical in programs.items() for scan in physical.scans
    }
    for group in log.groups():
        if group not in left_out:
            found.update({at.topic: group for at in log.committed(group)})
    return found


def lost_inputs(
    log: Log, physical: Physical, began: Mapping[TopicPartition, int]
) -> tuple[Lost, ...]:
    """Give the partitions of which the log has no longer what the job began with."""
    known = set(log.topics())
    streams = [scan.stream for scan in physical.scans if scan.stream.files is None]
    return tuple(
        item for stream in streams if stream.topic in known for item in _lost(log, stream, began)
    )


def _lost(log: Log, stream: Stream, began: Mapping[TopicPartition, int]) -> Iterator[Lost]:
    for at, bound in log.snapshot([stream.topic]).items():
        first = began.get(at, _first(stream, at.partition))
        if first is None or first < bound.start:
            yield Lost(stream.topic, at.partition, bound.start)


def _first(stream: Stream, partition: int) -> int | None:
    """Give where a stream is read from; none where only the first run knew."""
    start = stream.start
    known = dict(start.known).get(partition)
    if known is not None:
        return known
    if start.place == "beginning":
        return 0
    return start.value if start.place == "offset" else None
