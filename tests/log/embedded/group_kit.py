"""Groups in memory for the tests of groups: fixed topics, a clock moved by hand."""

from __future__ import annotations

from penstock.clock import ManualClock
from penstock.errors import TopicError
from penstock.log.embedded.decisions import Outcome
from penstock.log.embedded.group import GroupCoordinator
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.record import TopicPartition
from penstock.log.storage import Storage

TOPICS = {"orders": 3, "clicks": 4}


class Decisions:
    """Transaction outcomes that a test sets; all others are open."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[int, int, int], Outcome] = {}

    def outcome(self, writer_id: int, epoch: int, number: int) -> Outcome:
        return self.outcomes.get((writer_id, epoch, number), "open")


class GroupKit:
    """A coordinator and everything it was given."""

    def __init__(self, storage: Storage | None = None) -> None:
        self.storage: Storage = MemoryStorage() if storage is None else storage
        self.clock = ManualClock(1_000_000)
        self.topics = dict(TOPICS)
        self.decisions = Decisions()
        self.coordinator = GroupCoordinator(
            self.storage, self.clock, self._partitions_of, self.decisions
        )

    def _partitions_of(self, topic: str) -> int:
        if topic not in self.topics:
            raise TopicError("TOPIC_MISSING", f'topic "{topic}" does not exist')
        return self.topics[topic]


def partitions(topic: str, *numbers: int) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(topic, number) for number in numbers)


def die(seat: EmbeddedMembership) -> None:
    """Do to a seat what the kernel does when its process is killed."""
    seat._lock.close()
    seat._files.close()


def settle_down(*seats: EmbeddedMembership) -> None:
    """Let every member give up and take what the group wants, until nothing changes."""
    changed = True
    while changed:
        changed = sum(_follow(seat) for seat in seats) > 0


def _follow(seat: EmbeddedMembership) -> bool:
    change = seat.heartbeat()
    if change is None:
        return False
    if change.revoked:
        seat.release(change.revoked)
    return True
