"""The topics of an embedded log: one directory each, made and removed in one step."""

from __future__ import annotations

import uuid

import pyarrow as pa

from penstock.clock import Clock
from penstock.errors import CorruptionError
from penstock.log.embedded.boot import this_boot
from penstock.log.embedded.head import HEAD_FILE, Head, create_head
from penstock.log.embedded.manifest import encode_manifest, manifest_file, segment_name
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.storage import Storage
from penstock.log.topic import Topic, TopicConfig, check_partition_count, check_topic_name
from penstock.log.topic_document import topic_from_document, topic_to_document
from penstock.log.topic_refusals import check_topic_schema, existing_topic, missing_topic

TOPICS = "topics"
TOPIC_FILE = "topic.json"
_UNFINISHED = ".new-"
_REMOVED = ".gone-"


class Catalog:
    """Creates, describes and removes topics."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    def names(self) -> tuple[str, ...]:
        """The names of all topics, sorted."""
        return tuple(name for name in self._storage.list(TOPICS) if not name.startswith("."))

    def has(self, name: str) -> bool:
        """Whether a topic of that name exists now."""
        return self._storage.exists(f"{TOPICS}/{name}/{TOPIC_FILE}")

    def create(
        self, name: str, *, partitions: int, schema: pa.Schema | None, config: TopicConfig
    ) -> Topic:
        """Make a topic: it is there whole, or not at all."""
        check_topic_name(name)
        check_partition_count(partitions)
        check_topic_schema(name, schema)
        if self._storage.exists(f"{TOPICS}/{name}"):
            raise existing_topic(name)
        topic = Topic(name, partitions, schema, config, self._clock.now(), uuid.uuid4().hex)
        unfinished = f"{TOPICS}/{_UNFINISHED}{uuid.uuid4().hex}"
        try:
            self._lay_out(unfinished, topic)
            self._storage.rename(unfinished, f"{TOPICS}/{name}")
        except FileExistsError as error:
            self._storage.remove_tree(unfinished)
            raise existing_topic(name) from error
        except BaseException:
            self._storage.remove_tree(unfinished)
            raise
        self._storage.sync_directory(TOPICS)
        return topic

    def get(self, name: str) -> Topic:
        """Describe a topic; a misspelt name is corrected."""
        check_topic_name(name)
        path = f"{TOPICS}/{name}/{TOPIC_FILE}"
        try:
            saved = unseal(self._storage.read(path))
        except FileNotFoundError as error:
            raise missing_topic(name, self.names()) from error
        if saved is None:
            raise CorruptionError(
                "TOPIC_CORRUPT",
                f'the description "{path}" fails its checksum at byte 0',
                hint="Restore the file from a copy; the records beside it are untouched.",
            )
        return topic_from_document(saved)

    def configure(self, topic: Topic) -> None:
        """Replace a topic's settings."""
        path = f"{TOPICS}/{topic.name}/{TOPIC_FILE}"
        self._storage.replace(path, seal(topic_to_document(topic)), sync=True)

    def retire(self, name: str) -> None:
        """Take a topic out of sight in one step; its files wait to be buried."""
        self._storage.rename(f"{TOPICS}/{name}", f"{TOPICS}/{_REMOVED}{uuid.uuid4().hex}")
        self._storage.sync_directory(TOPICS)

    def retired(self) -> list[str]:
        """The directories of topics that were deleted and whose files are still there."""
        names = self._storage.list(TOPICS)
        return [f"{TOPICS}/{name}" for name in names if name.startswith(_REMOVED)]

    def _lay_out(self, directory: str, topic: Topic) -> None:
        for partition in range(topic.partitions):
            below = f"{directory}/{partition}"
            self._storage.make_directory(below)
            head = self._storage.open(f"{below}/{HEAD_FILE}", create=True)
            create_head(head, Head(boot=this_boot()))
            head.sync()
            head.close()
            self._storage.open(f"{below}/{segment_name(0)}.seg", create=True).close()
            self._storage.replace(f"{below}/{manifest_file(0)}", encode_manifest(0, ()), sync=True)
        self._storage.replace(
            f"{directory}/{TOPIC_FILE}", seal(topic_to_document(topic)), sync=True
        )
