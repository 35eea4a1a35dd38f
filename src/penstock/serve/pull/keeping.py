"""The rows that are kept at hand, in no more memory than they may take."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from penstock.errors import SqlError
from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.serve.pull.kept import Kept
from penstock.serve.pull.source import Source

_MIB = 1024 * 1024


class Keeping:
    """Gives relations as of one instant; what was not asked for the longest time leaves first."""

    def __init__(self, log: Log, memory: int) -> None:
        self._log = log
        self._memory = memory
        self._kept: dict[tuple[Source, str], Kept] = {}
        self._turn = threading.Lock()
        self._uses = itertools.count(1)

    @property
    def nbytes(self) -> int:
        """About what all of it takes in memory."""
        with self._turn:
            return sum(kept.nbytes for kept in self._kept.values())

    @contextmanager
    def advanced(
        self, sources: Iterable[Source], deadline: float
    ) -> Iterator[tuple[list[Kept], Mapping[TopicPartition, Bounds]]]:
        """Give relations read up to one instant of the log, held there for a with block."""
        with ExitStack() as stack:
            # In one order, so that two who ask for the same ones never wait for one another.
            kept = sorted((self._of(source) for source in sources), key=id)
            for one in kept:
                stack.enter_context(one.lock)
            bounds = self._snapshot(kept)
            for one in kept:
                self._advance(one, bounds, (kept, deadline))
            yield kept, bounds

    def ends(self, sources: Iterable[Source]) -> dict[TopicPartition, int]:
        """Give the offsets that an answer would reflect now."""
        found = self._log.snapshot(sorted({source.topic for source in sources}))
        return {TopicPartition(*at): bound.end for at, bound in found.items()}

    def _snapshot(self, kept: Sequence[Kept]) -> dict[TopicPartition, Bounds]:
        topics = sorted({one.source.topic for one in kept})
        found = self._log.snapshot(topics) if topics else {}
        return {TopicPartition(*at): bound for at, bound in found.items()}

    def _advance(
        self,
        one: Kept,
        bounds: Mapping[TopicPartition, Bounds],
        limits: tuple[Sequence[Kept], float],
    ) -> None:
        needed, deadline = limits

        def check(more: int) -> None:
            if time.monotonic() > deadline:
                raise SqlError(
                    "QUERY_TIME",
                    f'the rows of "{one.source.name}" take longer to read than an answer may',
                    hint="Ask again: what was read is kept.",
                )
            self._make_room(needed, one, more)

        mine = {at: bound for at, bound in bounds.items() if at.topic == one.source.topic}
        one.advance(mine, check)

    def _of(self, source: Source) -> Kept:
        known = (source, self._log.topic(source.topic).topic_id)
        with self._turn:
            found = self._kept.get(known)
            if found is None:
                # One by the same name that means something else now is of no use to anybody.
                for other in [key for key in self._kept if key[0].name == source.name]:
                    same = other[0].history == source.history and other != known
                    if same and other[0].kind == source.kind:
                        del self._kept[other]
                found = self._kept[known] = Kept(source, self._log)
            found.used_at = next(self._uses)
            return found

    def _make_room(self, needed: Sequence[Kept], one: Kept, more: int) -> None:
        with self._turn:
            total = more + sum(kept.nbytes for kept in self._kept.values())
            others = sorted(
                (item for item in self._kept.items() if item[1] not in needed),
                key=lambda item: item[1].used_at,
            )
            for known, kept in others:
                if total <= self._memory:
                    return
                total -= kept.nbytes
                del self._kept[known]
            if total <= self._memory:
                return
            for known in [key for key, kept in self._kept.items() if kept in needed]:
                del self._kept[known]
        raise SqlError(
            "QUERY_MEMORY",
            f'the rows of "{one.source.name}" are more than the {self._memory // _MIB} MiB that'
            " are kept for queries",
            hint="Ask a table that a job makes of it, or let `penstock serve` keep more.",
        )
