from __future__ import annotations

import pytest

from penstock.errors import GroupError
from tests.log.embedded.group_kit import GroupKit, die, settle_down


@pytest.fixture
def kit() -> GroupKit:
    return GroupKit()


def test_a_static_member_that_restarts_gets_its_partitions_back_without_a_rebalance(
    kit: GroupKit,
) -> None:
    stays = kit.coordinator.join("billing", ["orders"])
    static = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(stays, static)
    held, kept, generation = static.owned, stays.owned, stays.generation
    static.leave()
    assert stays.heartbeat() is None
    back = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(stays, back)
    assert (back.owned, stays.owned, stays.generation) == (held, kept, generation)


def test_a_static_member_that_died_keeps_its_place_for_a_session(kit: GroupKit) -> None:
    stays = kit.coordinator.join("billing", ["orders"])
    static = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(stays, static)
    die(static)
    assert stays.heartbeat() is None
    for _ in range(12):
        kit.clock.advance(1000)
        stays.heartbeat()
    assert len(stays.owned) == 3


def test_the_second_of_two_with_one_instance_id_fences_the_first(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(first)
    second = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(second)
    assert len(second.owned) == 3
    with pytest.raises(GroupError, match="GROUP_INSTANCE_TAKEN"):
        first.heartbeat()


def test_a_static_member_with_other_topics_is_shared_out_anew(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    settle_down(first)
    second = kit.coordinator.join("billing", ["clicks"], instance_id="host-1")
    settle_down(second)
    assert {place.topic for place in second.owned} == {"clicks"}


def test_a_static_member_that_is_away_does_not_hold_up_an_operator(kit: GroupKit) -> None:
    static = kit.coordinator.join("billing", ["orders"], instance_id="host-1")
    static.leave()
    kit.coordinator.delete("billing")
    assert kit.coordinator.groups() == ()
