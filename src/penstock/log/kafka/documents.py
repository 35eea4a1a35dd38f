"""What Kafka has no place for: the schema and the settings a topic was created with.

They are documents in a compacted topic, by the topic's name. A document tells the id of its topic,
so that it says nothing about another topic that was given the name later.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.log.kafka.columns import bytes_list
from penstock.log.kafka.offsets import Offsets
from penstock.log.kafka.reader import Readers
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN, TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import Topic, TopicConfig
from penstock.log.topic_document import topic_from_document, topic_to_document

DOCUMENTS = "_penstock_topics"
"""The topic of documents; the notes of transactions are group offsets of it."""

DOCUMENTS_CONFIG = TopicConfig(cleanup="compact")
_PLACE = TopicPartition(DOCUMENTS, 0)


class Documents:
    """The documents as their topic has them; threads may share it."""

    def __init__(
        self, offsets: Offsets, readers: Readers, append: Callable[[TopicPartition, pa.Table], None]
    ) -> None:
        self._offsets = offsets
        self._readers = readers
        self._append = append
        self._guard = threading.Lock()
        self._topic_id = ""
        self._read_to = 0
        self._known: dict[str, dict[str, Any]] = {}

    def of(self, name: str, topic_id: str, *, documents_id: str) -> Topic | None:
        """Give the document of a topic as it is now; None where it has none.

        `documents_id` is the id of the topic of documents, "" where there is none.
        """
        with self._guard:
            if documents_id != self._topic_id:
                self._topic_id, self._read_to, self._known = documents_id, 0, {}
            if documents_id:
                self._catch_up()
            saved = self._known.get(name)
        if saved is None or saved["topic_id"] != topic_id:
            return None
        return topic_from_document(saved)

    def write(self, topic: Topic) -> None:
        """Keep the document of a topic."""
        value = json.dumps(topic_to_document(topic)).encode()
        self._append(_PLACE, rows_of_bytes([value], keys=[topic.name.encode()]))

    def remove(self, name: str) -> None:
        """Drop the document of a topic."""
        self._append(_PLACE, rows_of_bytes([None], keys=[name.encode()]))

    def _catch_up(self) -> None:
        end = self._offsets.ends([_PLACE], "committed")[_PLACE]
        if self._read_to >= end:
            return
        with self._readers.of(self._topic_id, _PLACE, "committed") as reader:
            for block in reader.blocks(self._read_to, end):
                keys = bytes_list(block.rows.column(KEY_COLUMN))
                values = bytes_list(block.rows.column(VALUE_COLUMN))
                for key, value in zip(keys, values, strict=True):
                    self._note((key or b"").decode(), value)
                self._read_to = block.next_offset

    def _note(self, name: str, value: bytes | None) -> None:
        if value is None:
            self._known.pop(name, None)
        else:
            self._known[name] = json.loads(value)
