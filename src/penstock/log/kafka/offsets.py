"""Where partitions begin and end, and which offset a time has."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from confluent_kafka import OFFSET_INVALID, IsolationLevel
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]  # it says no `__all__`

from penstock.log.kafka.clients import LASTING, Clients
from penstock.log.port import Bounds, Isolation
from penstock.log.record import TopicPartition

_LEVELS = {
    "committed": IsolationLevel.READ_COMMITTED,
    "uncommitted": IsolationLevel.READ_UNCOMMITTED,
}
_EARLIEST: Any = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_SHORTEST_PAUSE = 0.005
_LONGEST_PAUSE = 0.05


class Offsets:
    """Asks the leaders of partitions; one question for as many partitions as are asked for."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def bounds(
        self, places: Iterable[TopicPartition], isolation: Isolation
    ) -> dict[TopicPartition, Bounds]:
        """Give where partitions begin, and where they end for such a reader."""
        wanted = sorted(set(places))
        begins = self._asked(dict.fromkeys(wanted, _EARLIEST), "committed")
        ends = self.ends(wanted, isolation)
        return {at: Bounds(begins[at], max(begins[at], ends[at])) for at in wanted}

    def ends(
        self,
        places: Iterable[TopicPartition],
        isolation: Isolation,
        *,
        seconds: float | None = None,
    ) -> dict[TopicPartition, int]:
        """Give where partitions end for such a reader: at the last stable offset, or the last."""
        return self._asked(dict.fromkeys(places, _LATEST), isolation, seconds)

    def at_time(self, place: TopicPartition, timestamp: int) -> int | None:
        """Give the first offset at or after a time; None where there is none."""
        # Times before 1970 are words of the protocol: "earliest", "latest".
        spec = OffsetSpec.for_timestamp(max(0, timestamp))
        found = self._asked({place: spec}, "committed")[place]
        return None if found < 0 else found

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Block until a partition ends after a position, or the time is over."""
        deadline = time.monotonic() + timeout
        pause = _SHORTEST_PAUSE
        while True:
            ends = self.ends(positions, "committed")
            if any(ends[place] > at for place, at in positions.items()):
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(_LONGEST_PAUSE, 1.5 * pause)

    def _asked(
        self,
        wanted: Mapping[TopicPartition, OffsetSpec],
        isolation: Isolation,
        seconds: float | None = None,
    ) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = {}
        if not wanted:
            return found
        answers = self._ask(wanted, isolation)
        for place, spec in wanted.items():
            # Each has a future of its own; one that failed for now is asked for alone.
            again = partial(self._again, [answers[place]], {place: spec}, isolation)
            doing = f'asking for offsets of "{place}"'
            found[place] = self._clients.ask(doing, again, answers=_is_told, seconds=seconds).offset
        return found

    def _again(
        self,
        first: list[Future[Any]],
        wanted: Mapping[TopicPartition, OffsetSpec],
        isolation: Isolation,
    ) -> Future[Any]:
        if first:
            return first.pop()
        for topic in {place.topic for place in wanted}:
            self._clients.refresh(topic)
        return next(iter(self._ask(wanted, isolation).values()))

    def _ask(
        self, wanted: Mapping[TopicPartition, OffsetSpec], isolation: Isolation
    ) -> dict[TopicPartition, Future[Any]]:
        with self._clients.errors("asking for offsets"):
            answers = self._clients.admin.list_offsets(
                {KafkaPartition(*place): spec for place, spec in wanted.items()},
                isolation_level=_LEVELS[isolation],
                request_timeout=LASTING,
            )
        return {TopicPartition(at.topic, at.partition): answer for at, answer in answers.items()}


def _is_told(answer: Any) -> bool:  # noqa: ANN401  # its type has no name of its own
    """Whether a leader said an offset; without a leader librdkafka gives one that is invalid."""
    return bool(answer.offset != OFFSET_INVALID)
