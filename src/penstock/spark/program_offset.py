"""Where a program is: the next offset of every partition it reads, and the time.

Spark writes it down before a batch runs, so that a batch which is run again has the same rows
and sees the same clock and the same watermarks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crc32c import crc32c

from penstock.errors import StateError, TopicError
from penstock.log.port import Log
from penstock.log.record import TopicPartition

_SEAL = "crc32c"


@dataclass(frozen=True, slots=True)
class ProgramOffset:
    """Positions after a batch, its clock, and the watermarks before it.

    `topics` holds the id of each topic, so that one deleted and made anew is noticed.
    """

    positions: Mapping[TopicPartition, int]
    topics: Mapping[str, str]
    clock: int = 0
    marks: Mapping[str, Any] | None = None
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        """Give the offset as Spark stores it."""
        topics: dict[str, dict[str, Any]] = {
            name: {"id": id_, "offsets": {}} for name, id_ in sorted(self.topics.items())
        }
        for place, at in sorted(self.positions.items()):
            topics[place.topic]["offsets"][str(place.partition)] = at
        said = {"topics": topics, "clock": self.clock, "marks": self.marks, "end": self.ended}
        return {**said, _SEAL: _seal(said)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> ProgramOffset:
        """Read what `to_json` gave; one that is damaged is refused."""
        said = {name: found[name] for name in ("topics", "clock", "marks", "end")}
        # Those of earlier releases have none.
        if found.get(_SEAL, "") not in ("", _seal(said)):
            raise StateError(
                "CHECKPOINT_BROKEN",
                "an offset in the checkpoint is not what was written: its checksum differs",
                hint="Restore the job from a savepoint, or rewind it.",
            )
        positions = {
            TopicPartition(name, int(partition)): int(at)
            for name, topic in found["topics"].items()
            for partition, at in topic["offsets"].items()
        }
        ids = {name: str(topic["id"]) for name, topic in found["topics"].items()}
        return cls(positions, ids, int(found["clock"]), found["marks"], bool(found["end"]))

    def require_same_topics(self, log: Log) -> None:
        """Refuse to go on in a topic that is not the one that was read."""
        for name, known in self.topics.items():
            if log.topic(name).topic_id != known:
                raise TopicError(
                    "TOPIC_REPLACED",
                    f'the program has read another topic than the "{name}" of today',
                    hint="It was deleted and created again: start with a new checkpoint.",
                )


def _seal(said: Mapping[str, Any]) -> str:
    # Spark keeps the offset in a file of its own, which has no checksum. In order: Spark's own
    # writer of JSON need not keep it.
    return f"{crc32c(json.dumps(said, sort_keys=True).encode()):08x}"
