"""A broker that is empty at the beginning of each test: for tests that name topics as they like."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.clock import Clock
from penstock.log.kafka.home import REMINDER
from penstock.log.kafka.log import KafkaLog
from penstock.log.kafka.properties import kafka_place
from penstock.log.port import Log


class EmptiedBroker:
    """One broker that tests have one after the other."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.address = f"kafka://{servers}"
        self._admin = AdminClient({"bootstrap.servers": servers, "log_level": "0"})

    @contextmanager
    def opener(self, _root: Path, clock: Clock) -> Iterator[Callable[[], Log]]:
        """Empty the broker and let tests open its log."""
        self.empty()
        yield lambda: KafkaLog(kafka_place(self.address, {}), clock=clock)

    def bind(self, home: Path) -> Path:
        """Make a home whose log is this broker's, as the setting `log` does."""
        home.mkdir(parents=True, exist_ok=True)
        told = {"address": self.address, "properties": {}}
        (home / REMINDER).write_text(json.dumps(told))
        return home

    def make(self, topic: str) -> None:
        """Make a topic as another tool does."""
        self._admin.create_topics([NewTopic(topic, num_partitions=1)])[topic].result(30)
        while not self._admin.list_topics(timeout=10).topics.get(topic):
            time.sleep(0.02)

    def empty(self) -> None:
        """Remove all topics and groups."""
        found = self._admin.list_topics(timeout=10).topics
        names = [name for name in found if not name.startswith("__")]
        if names:
            for gone in self._admin.delete_topics(names).values():
                gone.result()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            valid = self._admin.list_consumer_groups().result().valid
            groups = [group.group_id for group in valid]
            if not groups or not any(
                map(_refused, self._admin.delete_consumer_groups(groups).values())
            ):
                return
            # A member that a test has left behind holds its seat until it times out.
            time.sleep(0.2)


def _refused(done: Future[None]) -> bool:
    try:
        done.result()
    except KafkaException:
        return True
    return False
