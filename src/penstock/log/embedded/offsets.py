"""The offsets of a group: those committed, and those that wait for a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from penstock.errors import CorruptionError, OffsetError
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.record import TopicPartition


class PendingOffset(NamedTuple):
    """An offset that becomes committed with a transaction, or never."""

    topic: str
    partition: int
    offset: int
    writer_id: int
    epoch: int
    number: int

    @property
    def place(self) -> TopicPartition:
        """The partition it is about."""
        return TopicPartition(self.topic, self.partition)

    @property
    def transaction_key(self) -> tuple[int, int, int]:
        """Which transaction decides it, over the whole log."""
        return (self.writer_id, self.epoch, self.number)


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """What a group has committed, and in the order of their arrival what may follow."""

    committed: Mapping[TopicPartition, int] = field(default_factory=dict)
    pending: tuple[PendingOffset, ...] = ()

    def settled(self, decisions: TransactionDecisions) -> GroupOffsets:
        """Commit or drop what a transaction has decided; the last arrival of a partition wins."""
        committed = dict(self.committed)
        still_open: list[PendingOffset] = []
        for item in self.pending:
            match decisions.outcome(*item.transaction_key):
                case "committed":
                    committed[item.place] = item.offset
                    still_open = [other for other in still_open if other.place != item.place]
                case "open":
                    still_open.append(item)
                case "aborted":
                    pass
        return GroupOffsets(committed, tuple(still_open))

    def with_committed(self, offsets: Mapping[TopicPartition, int]) -> GroupOffsets:
        """Commit offsets at once."""
        _refuse_negative(offsets)
        return replace(self, committed={**self.committed, **offsets})

    def with_pending(
        self, offsets: Mapping[TopicPartition, int], transaction_key: tuple[int, int, int]
    ) -> GroupOffsets:
        """Let offsets wait for a transaction; a later one of the same transaction replaces."""
        _refuse_negative(offsets)
        kept = [
            item
            for item in self.pending
            if item.transaction_key != transaction_key or item.place not in offsets
        ]
        added = [
            PendingOffset(*place, offset, *transaction_key) for place, offset in offsets.items()
        ]
        return replace(self, pending=(*kept, *added))

    def without_topic(self, topic: str) -> GroupOffsets:
        """Forget everything about a topic."""
        return GroupOffsets(
            {place: offset for place, offset in self.committed.items() if place.topic != topic},
            tuple(item for item in self.pending if item.topic != topic),
        )


def encode_offsets(offsets: GroupOffsets) -> bytes:
    """Give the content of a group's file of offsets."""
    committed: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.committed.items()):
        committed.setdefault(topic, {})[str(partition)] = offset
    return seal({"committed": committed, "pending": list(map(list, offsets.pending))})


def decode_offsets(data: bytes, path: str) -> GroupOffsets:
    """Read a group's file of offsets; a flipped bit is named, never taken for an offset."""
    document = unseal(data)
    if document is None:
        raise CorruptionError(
            "GROUP_OFFSETS_CORRUPT",
            f'the offsets of a group in "{path}" fail their checksum at byte 0',
            hint="Remove the file and set the group's offsets anew, or restore it from a copy.",
        )
    committed = {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in document["committed"].items()
        for partition, offset in partitions.items()
    }
    return GroupOffsets(committed, tuple(PendingOffset(*item) for item in document["pending"]))


def _refuse_negative(offsets: Mapping[TopicPartition, int]) -> None:
    for place, offset in offsets.items():
        if offset < 0:
            raise OffsetError(
                "OFFSET_NEGATIVE",
                f'offset {offset} of "{place}" lies before the first record',
                hint="Commit the next offset to read: 0 or more.",
            )
