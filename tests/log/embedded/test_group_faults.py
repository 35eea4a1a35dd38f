"""A disk that refuses at any moment: a clear error, and the group usable afterwards."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from penstock.errors import StorageError
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.record import TopicPartition
from penstock.testing.faulty import FaultyStorage
from penstock.testing.plan import BROKEN_ONCE, DISK_FULL, Fault, FaultPlan
from tests.log.embedded.group_kit import GroupKit, die, partitions, settle_down

ORDERS = partitions("orders", 0, 1, 2)


class Life:
    """What two members do in the life of a group, and what was promised to them."""

    def __init__(self, kit: GroupKit) -> None:
        self.kit = kit
        self.seats: list[EmbeddedMembership] = []
        self.asked: dict[TopicPartition, int] = {}
        self.acknowledged: dict[TopicPartition, int] = {}

    def live(self) -> None:
        first = self._join()
        settle_down(first)
        self._commit(first, dict.fromkeys(ORDERS, 1))
        second = self._join()
        settle_down(first, second)
        for offset in (2, 3, 4, 5, 6):
            for seat in self.seats:
                self._commit(seat, dict.fromkeys(seat.owned, offset))
        for _ in range(8):
            self.kit.clock.advance(1_000)
            settle_down(first, second)
        first.leave()
        settle_down(second)
        self._commit(second, dict.fromkeys(ORDERS, 7))
        second.leave()

    def _join(self) -> EmbeddedMembership:
        # As the log does: what the storage refuses has a code from here on.
        with coded_storage_errors("joining"):
            self.seats.append(self.kit.coordinator.join("billing", ["orders"]))
        return self.seats[-1]

    def _commit(self, seat: EmbeddedMembership, offsets: Mapping[TopicPartition, int]) -> None:
        self.asked.update(offsets)
        seat.commit(offsets)
        self.acknowledged.update(offsets)


@pytest.mark.parametrize("fault", [BROKEN_ONCE, DISK_FULL])
@pytest.mark.parametrize("call", range(1, 51))
def test_a_refusal_at_any_call_is_coded_and_keeps_what_was_acknowledged(
    call: int, fault: Fault
) -> None:
    disk = MemoryStorage()
    storage = FaultyStorage(disk, FaultPlan({call: fault}))
    life = Life(GroupKit(storage))
    with pytest.raises(StorageError, match=r"STORAGE_FAILED|DISK_FULL"):
        life.live()
    storage.heal()
    for seat in life.seats:
        die(seat)
    committed = life.kit.coordinator.committed("billing")
    for place, offset in life.acknowledged.items():
        assert offset <= committed[place] <= life.asked[place]
    survivor = GroupKit(disk).coordinator.join("billing", ["orders"])
    settle_down(survivor)
    assert survivor.owned == ORDERS
    survivor.commit(dict.fromkeys(ORDERS, 9))


def test_the_life_of_the_group_is_long_enough_to_be_struck_at_every_call() -> None:
    storage = FaultyStorage(MemoryStorage(), FaultPlan())
    Life(GroupKit(storage)).live()
    assert len(storage.trace) >= 50
