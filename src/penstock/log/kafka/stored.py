"""What groups have committed, asked as one of their consumers would.

The admin client's way, `list_consumer_group_offsets`, ends the whole process when a coordinator
has just moved: librdkafka looks for a group that such a client does not have (its issue 5040).
"""

from __future__ import annotations

import threading
from concurrent.futures import Future

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from penstock.log.kafka.clients import ATTEMPT, Clients
from penstock.log.record import TopicPartition

_MOST_IDLE = 8
# Offsets of a transaction that is open are waited for by those who read what is committed.
_ISOLATION = {True: "read_committed", False: "read_uncommitted"}


class StoredOffsets:
    """Asks for offsets and their metadata; threads may share it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._guard = threading.Lock()
        self._idle: dict[tuple[str, bool], Consumer] = {}

    def of(
        self, group: str, place: TopicPartition | None = None, *, stable: bool
    ) -> dict[TopicPartition, tuple[int, str]]:
        """Give where a group is, and what it noted there: in one partition, or in all.

        `stable` waits for the offsets of a transaction.
        """
        found = self._clients.ask(
            f'asking for offsets of group "{group}"', lambda: self._ask(group, place, stable=stable)
        )
        return {
            TopicPartition(at.topic, at.partition): (at.offset, at.metadata or "")
            for at in found
            if at.offset >= 0
        }

    def close(self) -> None:
        """Let go of the consumers; one that is asked just now goes when it has answered."""
        with self._guard:
            gone = list(self._idle.values())
            self._idle.clear()
        for consumer in gone:
            consumer.close()

    def _ask(
        self, group: str, place: TopicPartition | None, *, stable: bool
    ) -> Future[list[KafkaPartition]]:
        answer: Future[list[KafkaPartition]] = Future()
        try:
            places = self._all() if place is None else [KafkaPartition(*place)]
            # A consumer is asked by one thread at a time: whoever comes meanwhile has another.
            with self._guard:
                asker = self._idle.pop((group, stable), None)
            asker = asker or self._asker(group, stable=stable)
            try:
                answer.set_result(asker.committed(places, ATTEMPT) if places else [])
            except KafkaException:
                # It may wait for a coordinator that is gone: the next one asks who it is now. To
                # close it may take as long.
                threading.Thread(target=asker.close, daemon=True).start()
                raise
            self._keep((group, stable), asker)
        except KafkaException as failure:
            answer.set_exception(failure)
        return answer

    def _all(self) -> list[KafkaPartition]:
        topics = self._clients.admin.list_topics(timeout=ATTEMPT).topics
        return [
            KafkaPartition(name, at) for name, found in topics.items() for at in found.partitions
        ]

    def _asker(self, group: str, *, stable: bool) -> Consumer:
        settings = {"group.id": group, "isolation.level": _ISOLATION[stable]}
        return self._clients.consumer({**settings, "enable.auto.commit": "false"})

    def _keep(self, key: tuple[str, bool], asker: Consumer) -> None:
        """Keep a consumer for the next question: its connections are worth a tenth of a second."""
        with self._guard:
            gone = self._idle.pop(key, None)
            self._idle[key] = asker
            if len(self._idle) > _MOST_IDLE:
                gone = self._idle.pop(next(iter(self._idle)))
        if gone is not None:
            gone.close()
