"""Batches that are planned already: those that are run again, as they were."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.log.port import Log
from penstock.spark.batch_log import BatchLog, Noted
from penstock.spark.give_up import planned_before
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.upstream import Again, read_again


class Foreseen:
    """Says where the next batch ends, if that was decided before."""

    def __init__(self, options: ProgramOptions) -> None:
        self._options = options
        self._noted: Iterator[Noted] | None = None
        self._next: Noted | None = None
        self._asked = False
        self._free: ProgramOffset | None = None

    def after(self, begin: ProgramOffset, log: Log) -> ProgramOffset | None:
        """Give the end of the batch that begins at an offset; none where it is free."""
        if begin == self._free:
            return None
        if not self._asked:
            self._asked = True
            self._find(begin, log)
        while self._next is not None and self._noted is not None:
            end = self._next.start.offset
            if end != begin:
                return end
            self._next = next(self._noted, None)
        found = None
        if self._options.guarantee != "at-most-once":
            found = planned_before(self._options.files, begin)
        self._free = begin if found is None else None
        return found

    def _find(self, begin: ProgramOffset, log: Log) -> None:
        again = read_again(self._options.files)
        if again is None or again.first > again.last:
            return
        self._noted = _from(begin, log, again)
        self._next = next(self._noted, None)


def _from(begin: ProgramOffset, log: Log, again: Again) -> Iterator[Noted]:
    """Give the batches that are run again from an offset on; none where all have been."""
    noted = [
        found
        for found in BatchLog(log, again.topic).read()
        if again.first - 1 <= found.number <= again.last
    ]
    places = [index for index, found in enumerate(noted) if found.start.offset == begin]
    yield from noted[places[0] + 1 :] if places else ()
