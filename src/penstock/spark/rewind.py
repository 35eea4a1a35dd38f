"""A stopped job begins anew at another place of its input: what it remembers is dropped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession

from penstock.errors import OffsetError, StateError, UsageError
from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.spark.identity import new_identity
from penstock.spark.inputs import input_log
from penstock.spark.job_files import current_files
from penstock.spark.position import (
    BEGINNING,
    Positions,
    parse_positions,
    resolve_positions,
)
from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Start
from penstock.spark.rebuild import WITHOUT_RESULTS, drop_if_asked
from penstock.spark.stored_program import load_program, stored_bytes
from penstock.spark.stored_states import require_program
from penstock.spark.transfer import Entry, Stopped, enter, found_job

To: TypeAlias = str | datetime | Mapping[TopicPartition, int]
"""A word, a time or offsets: "beginning", "end", "2026-01-31T12:00:00Z", or as JSON
{"topic": {"0": 17}}. Partitions that offsets leave out stay where they are."""


@dataclass(frozen=True, slots=True)
class Rewound:
    """Where a job was in each partition, and where it begins now."""

    before: Mapping[TopicPartition, int]
    after: Mapping[TopicPartition, int]


def rewind(
    home: str | Path,
    checkpoint: str | Path,
    to: To,
    *,
    drop_results: bool = False,
    session: SparkSession | None = None,  # noqa: ARG001  # nothing of it needs Spark
) -> Rewound:
    """Let a stopped job begin with nothing at a place, as a new one would that begins there.

    Results that it has written stay, or are dropped. A batch that is half done is given up.
    """
    files = current_files(Path(checkpoint))
    data = require_program(files)
    job = _readable(checkpoint)
    # A program is stored with the settings that it runs with.
    physical = load_program(str(data)).physical
    if job is not None:
        physical = job.identity.applied(physical)
    whole = ProgramFormat.log_of(str(home))
    log = input_log(whole, physical)
    before = (
        {} if job is None else (job.start.offset if job.left is None else job.left.at).positions
    )
    after = _places(to, physical, log, before)
    ids = {name: log.topic(name).topic_id for name in sorted({at.topic for at in after})}
    if job is not None:
        _give_up_batch(whole, job)
    identity = new_identity(physical)
    marks = (WITHOUT_RESULTS,) if drop_results else ()
    entry = Entry(identity, Start(ProgramOffset(after, ids)), stored_bytes(data), marks=marks)
    fresh = enter(checkpoint, entry)
    drop_if_asked(physical, whole, fresh.folder)
    return Rewound(before, after)


def _readable(checkpoint: str | Path) -> Stopped | None:
    """Give what a job knows; nothing where that is damaged, since nothing of it is needed."""
    try:
        return found_job(checkpoint)
    except StateError:
        return None


def _give_up_batch(log: Log, job: Stopped) -> None:
    """Let nobody wait for what the job has appended and not decided: it vanishes."""
    log.transaction(f"program-{job.identity.job}").close()


def _places(
    to: To, physical: Physical, log: Log, before: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    topics = sorted({scan.stream.topic for scan in physical.scans})
    bounds = log.snapshot(topics)
    offsets = _offsets(to)
    if offsets is not None:
        _require_within(offsets, bounds)
        # What retention has taken since is passed over.
        return {
            place: offsets.get(place, max(before.get(place, bound.start), bound.start))
            for place, bound in bounds.items()
        }
    positions = _positions(to)
    found: dict[TopicPartition, int] = {}
    for topic in topics:
        own = {at.partition: bound for at, bound in bounds.items() if at.topic == topic}
        resolved = resolve_positions(positions, log, topic, own)
        found.update({TopicPartition(topic, number): at for number, at in resolved.items()})
    return found


def _offsets(to: To) -> Mapping[TopicPartition, int] | None:
    if isinstance(to, datetime):
        return None
    if not isinstance(to, str):
        return to
    if not to.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(to)
        return {
            TopicPartition(topic, int(number)): int(at)
            for topic, offsets in found.items()
            for number, at in offsets.items()
        }
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(
            "REWIND_PLACE",
            f"{to} does not say offsets by topic and partition",
            hint='Give {"topic": {"0": 17, "1": 4}}, a time, beginning or end.',
        ) from error


def _positions(to: str | datetime | Mapping[TopicPartition, int]) -> Positions:
    if isinstance(to, datetime):
        to = (to if to.tzinfo else to.replace(tzinfo=UTC)).isoformat()
    assert isinstance(to, str)
    word = to.strip()
    if word.isdecimal():
        raise UsageError(
            "REWIND_PLACE",
            f"offset {word} does not say of which partition",
            hint='Give {"topic": {"0": 17, "1": 4}}, a time, beginning or end.',
        )
    word = "latest" if word.lower() == "end" else word
    return parse_positions(word, option="to", otherwise=BEGINNING)


def _require_within(
    offsets: Mapping[TopicPartition, int], bounds: Mapping[TopicPartition, Bounds]
) -> None:
    for place, at in offsets.items():
        bound = bounds.get(place)
        if bound is None:
            raise UsageError(
                "REWIND_PLACE",
                f'the job does not read partition "{place}"',
                hint=f"It reads {', '.join(str(at) for at in bounds)}.",
            )
        if not bound.start <= at <= bound.end:
            raise OffsetError(
                "OFFSET_RANGE",
                f'offset {at} of partition "{place}" is outside {bound.start} to {bound.end}',
                hint="Give an offset within it, beginning or end.",
            )
