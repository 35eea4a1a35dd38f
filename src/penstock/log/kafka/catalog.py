"""The topics of a cluster, as the log describes them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it says no `__all__`
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from penstock.clock import Clock
from penstock.errors import TopicError
from penstock.log.kafka.clients import LASTING, PATIENCE, Clients
from penstock.log.kafka.documents import DOCUMENTS, DOCUMENTS_CONFIG, Documents
from penstock.log.kafka.failures import MISSING, error_of
from penstock.log.kafka.settings import kafka_settings, topic_config
from penstock.log.record import TopicPartition
from penstock.log.topic import Topic, TopicConfig, check_partition_count, check_topic_name
from penstock.log.topic_refusals import (
    check_topic_schema,
    existing_topic,
    missing_partition,
    missing_topic,
)

_INTERNAL = "__"
# How long an answer is believed: what other processes do to topics is seen as late as that.
_FRESH = 1.0
_SPREAD = 5.0
"""How many seconds brokers may take to go by what the controller has decided."""
_PAUSE = 0.02


class Catalog:
    """Creates, describes and removes topics; threads may share it."""

    def __init__(self, clients: Clients, clock: Clock, documents: Documents) -> None:
        self._clients = clients
        self._clock = clock
        self._documents = documents
        self._guard = threading.RLock()
        self._known: dict[str, tuple[float, Topic]] = {}

    def names(self) -> tuple[str, ...]:
        """The names of all topics but Kafka's own and that of our documents, sorted."""
        found = self._clients.listing().topics
        return tuple(
            sorted(name for name in found if name != DOCUMENTS and not name.startswith(_INTERNAL))
        )

    def get(self, name: str) -> Topic:
        """Describe a topic; a misspelt name is corrected."""
        known = self._known.get(name)
        if known is not None and time.monotonic() - known[0] < _FRESH:
            return known[1]
        check_topic_name(name)
        found = self._described(name)
        if found is None:
            self.forget(name)
            raise missing_topic(name, self.names())
        topic = self._topic(name, found)
        self._known[name] = (time.monotonic(), topic)
        return topic

    def place(self, topic: str, partition: int) -> Topic:
        """Describe the topic of a partition; one out of range is refused."""
        found = self.get(topic)
        if not 0 <= partition < found.partitions:
            raise missing_partition(TopicPartition(topic, partition), found.partitions)
        return found

    def create(
        self, name: str, *, partitions: int, schema: pa.Schema | None, config: TopicConfig
    ) -> Topic:
        """Make a topic and keep its document."""
        check_topic_name(name)
        check_partition_count(partitions)
        check_topic_schema(name, schema)
        self.ensure_documents()
        topic = Topic(name, partitions, schema, config, self._clock.now())
        made = replace(topic, topic_id=self._create(topic))
        self._documents.write(made)
        self._known[name] = (time.monotonic(), made)
        return made

    def configure(self, topic: Topic) -> None:
        """Replace a topic's settings; returns when brokers go by them."""
        wanted = kafka_settings(topic.config)
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
            for key, value in wanted.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic.name, incremental_configs=entries)
        self._ask(
            f'changing topic "{topic.name}"',
            lambda: self._clients.admin.incremental_alter_configs(
                [resource], request_timeout=LASTING
            )[resource],
        )
        self.ensure_documents()
        self._documents.write(topic)
        deadline = time.monotonic() + _SPREAD
        while not wanted.items() <= self._told(topic.name).items():
            if time.monotonic() > deadline:
                break
            time.sleep(_PAUSE)
        self.forget(topic.name)

    def delete(self, name: str) -> Topic:
        """Remove a topic; returns when nobody finds it any more."""
        topic = self.get(name)
        self._ask(
            f'deleting topic "{name}"',
            lambda: self._clients.admin.delete_topics([name], request_timeout=LASTING)[name],
            once=True,
        )
        self.forget(name)
        self._until(name, lambda found: found is None or str(found.topic_id) != topic.topic_id)
        if self._id_of(DOCUMENTS):
            self._documents.remove(name)
        return topic

    def ensure_documents(self) -> None:
        """Make the topic of documents where there is none."""
        if self._id_of(DOCUMENTS):
            return
        with contextlib.suppress(TopicError):
            self._create(Topic(DOCUMENTS, 1, None, DOCUMENTS_CONFIG))

    def forget(self, name: str) -> None:
        """Believe nothing that was said about a topic before."""
        self._known.pop(name, None)

    def _create(self, topic: Topic) -> str:
        new = NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=self._clients.place.replication,
            config=kafka_settings(topic.config),
        )
        try:
            self._ask(
                f'creating topic "{topic.name}"',
                lambda: self._clients.admin.create_topics([new], request_timeout=LASTING)[
                    topic.name
                ],
                once=True,
            )
        except TopicError:
            raise
        except Exception as failure:
            cause = error_of(failure.__cause__) if failure.__cause__ is not None else None
            if cause is not None and cause.code() == KafkaError.TOPIC_ALREADY_EXISTS:
                raise existing_topic(topic.name) from failure
            raise
        self.forget(topic.name)
        found = self._until(topic.name, lambda found: found is not None)
        return "" if found is None else str(found.topic_id)

    def _topic(self, name: str, found: TopicDescription) -> Topic:
        topic_id = str(found.topic_id)
        kept = self._documents.of(name, topic_id, documents_id=self._id_of(DOCUMENTS))
        base = Topic(name, 0) if kept is None else kept
        config = topic_config(self._told(name), None if kept is None else kept.config)
        return replace(base, partitions=len(found.partitions), config=config, topic_id=topic_id)

    def _told(self, name: str) -> dict[str, str]:
        """Give the settings of a topic as a broker has them."""
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = self._ask(
            f'describing topic "{name}"',
            lambda: self._clients.admin.describe_configs([resource], request_timeout=LASTING)[
                resource
            ],
        )
        return {key: entry.value for key, entry in entries.items() if entry.value is not None}

    def _id_of(self, name: str) -> str:
        known = self._known.get(name)
        if known is None or time.monotonic() - known[0] >= _FRESH:
            found = self._described(name)
            if found is None:
                return ""
            known = (time.monotonic(), Topic(name, 1, topic_id=str(found.topic_id)))
            self._known[name] = known
        return known[1].topic_id

    def _described(self, name: str) -> TopicDescription | None:
        try:
            found: TopicDescription = self._ask(
                f'describing topic "{name}"',
                lambda: self._clients.admin.describe_topics(
                    TopicCollection([name]), request_timeout=LASTING
                )[name],
            )
        except TopicError as refusal:
            cause = None if refusal.__cause__ is None else error_of(refusal.__cause__)
            if cause is None or cause.code() not in MISSING:
                raise
            return None
        return found

    def _until(
        self, name: str, settled: Callable[[TopicDescription | None], bool]
    ) -> TopicDescription | None:
        """Ask until brokers know what the controller has decided."""
        deadline = time.monotonic() + PATIENCE
        while not settled(found := self._described(name)):
            if time.monotonic() > deadline:
                with self._clients.errors(f'waiting for the brokers to know topic "{name}"'):
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001
            time.sleep(_PAUSE)
        return found

    def _ask(self, doing: str, question: Callable[[], Future[Any]], *, once: bool = False) -> Any:  # noqa: ANN401
        return self._clients.ask(doing, question, once=once)
