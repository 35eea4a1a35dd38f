"""What a job needs no more of its topics: told in a consumer group, and trimmed where asked for.

A job with a checkpoint needs what it has read since. One that recovers from the log needs all
that its states depend on. A topic that several read is trimmed up to what all of them need no
more: a job that is stopped, or anybody who reads in a group, holds it back. Where a group shows
how far a job has come, and not what it needs, the place before its last step counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from time import monotonic
from typing import Protocol, runtime_checkable

from penstock.errors import GroupError, RunError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.plan.needed import needed_for
from penstock.spark.batch_log import NEEDED, BatchLog, Noted
from penstock.spark.progress_file import Left
from penstock.spark.upstream import Again, is_needless

_EVERY = 5.0
_PLENTY = 64
# The last batch may have to be given once more, and what it begins with is needed.
_ALWAYS = 2


@runtime_checkable
class Trims(Protocol):
    """A log that can forget."""

    def delete_records(self, topic: str, partition: int, *, before_offset: int) -> int:
        """Remove the records before an offset; give the offset the partition now starts at."""
        ...


def require_trimmable(log: Log, physical: Physical, how: JobSettings) -> None:
    """Refuse to trim where the job needs all rows for ever, or the log cannot."""
    if not how.trim:
        return
    if how.recovery == "upstream" and needed_for(physical) is None:
        raise RunError(
            "TRIM_UNBOUNDED",
            f'program "{physical.name}" remembers things without an end, and is to make them anew'
            " of a log that is trimmed",
            hint='Leave out trim, or let it keep a checkpoint: recovery="passive".',
        )
    if how.recovery == "active" or not isinstance(log, Trims):
        raise RunError(
            "TRIM_UNSUPPORTED",
            f'the topics of program "{physical.name}" cannot be trimmed by it: its log does not'
            " let it, or it has a standby, which reads them as well",
            hint="Leave out trim, and set the retention of the topics.",
        )


class Acknowledging:
    """Follows the batches of one job, and says from time to time what it needs no more."""

    def __init__(
        self, log_of: Callable[[], Log], physical: Physical, again: Again | None, *, trim: bool
    ) -> None:
        self._log_of = log_of
        self._physical = physical
        self._batches = None if again is None else BatchLog(self._log, again.topic)
        self._trim = trim
        self._needed = needed_for(physical)
        self._noted: deque[Noted] = deque()
        self._told: Mapping[TopicPartition, int] = {}
        self._others: dict[str, list[Mapping[TopicPartition, int]]] = {}
        self._due = 0.0
        if self._batches is not None:
            self._noted.extend(self._batches.read())
            self._tell(self._noted[0].start.offset.positions)

    @cached_property
    def _log(self) -> Log:
        # Most jobs tell nothing, and need none.
        return self._log_of()

    def note(self, number: int, left: Left) -> None:
        """Write a batch down before anything of it is visible, unless it is."""
        if self._batches is None or number <= self._noted[-1].number:
            return
        noted = Noted.of(number, left)
        self._batches.append(noted)
        self._noted.append(noted)

    def done(self, left: Left, before: Left | None) -> None:
        """Take that a batch is visible; `before` is what was known when it came to its end."""
        if self._batches is not None:
            self._forget()
        if monotonic() < self._due:
            return
        self._due = monotonic() + _EVERY
        if self._batches is not None:
            first = self._noted[0].start.offset.positions
        elif self._trim and before is not None and before.batch < left.batch:
            # Spark has finished the batch before, or this one would not run; one that is run again
            # finds what it left itself.
            first = before.at.positions
        else:
            return
        self._tell(first)
        if self._trim:
            self._trim_topics(first)

    def _forget(self) -> None:
        """Let go of the batches that nothing depends on."""
        if self._needed is None:
            # Only the first and the last are ever looked at.
            while len(self._noted) > _PLENTY:
                del self._noted[1]
            return
        last, scans = self._noted[-1].start.offset, self._physical.scans
        while len(self._noted) > _ALWAYS and is_needless(self._noted[1], last, scans, self._needed):
            self._noted.popleft()

    def _tell(self, positions: Mapping[TopicPartition, int]) -> None:
        topics = _topics(self._physical)
        told = {at: offset for at, offset in positions.items() if at.topic in topics}
        if told == self._told or not told:
            return
        try:
            self._log.commit(f"{self._physical.name}{NEEDED}", told)
        except GroupError:
            # Somebody reads under that name: the group is theirs.
            return
        self._told = told
        if self._batches is not None and isinstance(self._log, Trims):
            self._drop_noted(self._batches)

    def _drop_noted(self, batches: BatchLog) -> None:
        # A batch is one record, and the first was the beginning of all.
        offset = self._noted[0].number + 1
        if offset > batches.log.bounds(batches.topic, 0).start and isinstance(self._log, Trims):
            self._log.delete_records(batches.topic, 0, before_offset=offset)

    def _trim_topics(self, positions: Mapping[TopicPartition, int]) -> None:
        assert isinstance(self._log, Trims)
        self._look()
        for topic in sorted(_topics(self._physical)):
            # A compacted topic is a table: it forgets by key.
            if self._log.topic(topic).config.compacts:
                continue
            for at, own in positions.items():
                if at.topic == topic:
                    self._trim_to(at, min(own, *self._safe(at), own))

    def _trim_to(self, at: TopicPartition, offset: int) -> None:
        assert isinstance(self._log, Trims)
        bounds = self._log.bounds(*at)
        if bounds.start < offset <= bounds.end:
            self._log.delete_records(*at, before_offset=offset)

    def _look(self) -> None:
        """Remember what all groups have committed, and what they had before that."""
        before, self._others = self._others, {}
        for group in self._log.groups():
            seen, now = before.get(group, []), self._log.committed(group)
            self._others[group] = seen if seen[-1:] == [now] else [*seen[-1:], now]

    def _safe(self, at: TopicPartition) -> Iterable[int]:
        own = {self._physical.name, f"{self._physical.name}{NEEDED}"}
        for group, seen in self._others.items():
            if group not in own and at in seen[-1]:
                # What a group says it needs is meant; else a step may be done again.
                said = seen[-1] if group.endswith(NEEDED) else seen[0]
                yield said.get(at, 0) if group.endswith(NEEDED) or len(seen) > 1 else 0


def _topics(physical: Physical) -> frozenset[str]:
    return frozenset(scan.stream.topic for scan in physical.scans if scan.stream.files is None)
