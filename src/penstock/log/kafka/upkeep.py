"""What an embedded log does to its files, as far as a cluster lets it be asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, Protocol

from confluent_kafka import TopicPartition as KafkaPartition

from penstock.errors import LogError
from penstock.log.kafka.clients import LASTING, Clients
from penstock.log.port import Bounds, Isolation, SegmentInfo
from penstock.log.record import TopicPartition
from penstock.log.topic import Topic


class _Asked(Protocol):
    """What upkeep asks of its log."""

    _clients: Clients

    def topic(self, name: str) -> Topic: ...

    def bounds(self, topic: str, partition: int, isolation: Isolation = "committed") -> Bounds: ...

    def committed(self, group: str) -> dict[TopicPartition, int]: ...

    def delete_records(self, topic: str, partition: int, *, before_offset: int) -> int: ...


class Upkeep:
    """Removes records; files are the brokers' business, and what needs them is refused."""

    def segments(self: _Asked, topic: str, partition: int) -> list[SegmentInfo]:
        """None at all: how brokers keep a partition, and how much it takes, they do not tell."""
        self.bounds(topic, partition)
        return []

    def delete_records(self: _Asked, topic: str, partition: int, *, before_offset: int) -> int:
        """Remove the records before an offset; give the offset the partition now starts at."""
        place = KafkaPartition(topic, partition, before_offset)
        done = self._clients.ask(
            f'deleting records of topic "{topic}"',
            lambda: self._clients.admin.delete_records([place], request_timeout=LASTING)[place],
        )
        return int(done.low_watermark)

    def trim(self: _Asked, topic: str, groups: Iterable[str]) -> dict[int, int]:
        """Use a topic as a queue: remove what all the named groups have committed."""
        committed = [self.committed(group) for group in groups]
        starts = {}
        for number in range(self.topic(topic).partitions):
            place, start = TopicPartition(topic, number), self.bounds(topic, number).start
            consumed = min((offsets.get(place, start) for offsets in committed), default=start)
            starts[number] = self.delete_records(topic, number, before_offset=max(start, consumed))
        return starts

    def clean(self, topic: str, *, include_active: bool = False) -> NoReturn:  # noqa: ARG002
        """Refused: brokers apply retention and compaction in their own time."""
        raise _elsewhere(f'cleaning topic "{topic}"')

    def verify(self, topic: str | None = None) -> NoReturn:  # noqa: ARG002
        """Refused: brokers check what they store."""
        raise _elsewhere("verifying the log")

    def repair(self, topic: str | None = None, *, cut_corrupt: bool = False) -> NoReturn:  # noqa: ARG002
        """Refused: brokers repair what they store from its copies."""
        raise _elsewhere("repairing the log")

    @property
    def storage(self) -> NoReturn:
        """Refused: there are no files here."""
        raise _elsewhere("looking at the log's files")


def _elsewhere(doing: str) -> LogError:
    return LogError(
        "LOG_ELSEWHERE",
        f"{doing} is for a log that this machine keeps, and this one is kept by Kafka",
        hint="Use the tools that Kafka brings, such as kafka-configs and kafka-log-dirs.",
    )
