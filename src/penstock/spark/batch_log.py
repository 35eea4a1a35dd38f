"""The batches of a job as records of a topic: where each ended, and what it left.

A job that keeps no checkpoint finds here which rows each of its batches had and what the clock
said. With that the same batches can be run again, and give the same states. A batch is written
down before anything of it is visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.log.port import Log
from penstock.log.record import VALUE_COLUMN
from penstock.log.rows import rows_of_bytes
from penstock.log.stretch import tables_now
from penstock.log.topic import TopicConfig
from penstock.spark.progress_file import BEFORE_ALL, Left, Start, start_document, start_of

_OTHERS = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 240
NEEDED = ".needed"
"""What the name of the group ends with that says what a job needs."""


@dataclass(frozen=True, slots=True)
class Noted:
    """One batch of a job, counted from its very first; before that, where the job began."""

    number: int
    start: Start
    """Where the batch after it begins."""

    @classmethod
    def of(cls, number: int, left: Left) -> Noted:
        """Note a batch by what it left."""
        return cls(number, Start(left.at, left))

    def to_bytes(self) -> bytes:
        """Give it as a record has it; how it fared lately is left out."""
        start, left = self.start, self.start.left
        if left is not None:
            told = {**left.told, "history": []}
            start = replace(start, left=replace(left, batch=BEFORE_ALL, told=told))
        return json.dumps({"number": self.number, **start_document(start)}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Noted:
        """Read what `to_bytes` gave."""
        found: Mapping[str, Any] = json.loads(data)
        return cls(found["number"], start_of(found))


@dataclass(frozen=True, slots=True)
class BatchLog:
    """The topic that holds the batches of one job, in their order."""

    log: Log
    topic: str

    @property
    def exists(self) -> bool:
        """Whether there is such a topic."""
        return self.topic in self.log.topics()

    def remove(self) -> None:
        """Forget all batches: who writes them next counts anew, under another name."""
        if self.exists:
            self.log.delete_topic(self.topic)

    def ensure(self) -> str:
        """Create the topic where it is not there; give what tells it from any before it."""
        if not self.exists:
            self.log.create_topic(self.topic, config=TopicConfig(fsync="always"))
        return self.log.topic(self.topic).topic_id

    def append(self, noted: Noted) -> None:
        """Write a batch down; when this returns it survives a power cut."""
        self.log.append(self.topic, 0, rows_of_bytes([noted.to_bytes()]))

    def read(self) -> Iterator[Noted]:
        """Give all batches that are kept."""
        for table in tables_now(self.log, self.topic, 0, (VALUE_COLUMN,)):
            for value in table.column(VALUE_COLUMN).to_pylist():
                yield Noted.from_bytes(value)


def batch_topic(program: str, checkpoint: str) -> str:
    """Give the topic that holds the batches of a program's job, by the name of its checkpoint."""
    name = program if program == checkpoint else f"{program}-{checkpoint}"
    return f"{_OTHERS.sub('_', name)[:_LONGEST]}-batches"
