from __future__ import annotations

import pytest

from penstock.errors import CorruptionError
from penstock.log.embedded.offsets import GroupOffsets, decode_offsets, encode_offsets
from penstock.log.record import TopicPartition
from tests.log.embedded.group_kit import GroupKit, settle_down

PLACE = TopicPartition("orders", 0)
OTHER = TopicPartition("orders", 1)


@pytest.fixture
def kit() -> GroupKit:
    return GroupKit()


def test_an_offset_of_an_open_transaction_is_not_committed_yet(kit: GroupKit) -> None:
    kit.coordinator.commit("billing", {PLACE: 5})
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    assert kit.coordinator.committed("billing") == {PLACE: 5}


def test_an_offset_is_committed_with_its_transaction(kit: GroupKit) -> None:
    kit.coordinator.commit("billing", {PLACE: 5, OTHER: 1})
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    kit.decisions.outcomes[7, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {PLACE: 9, OTHER: 1}
    assert kit.coordinator.group("billing").committed == {PLACE: 9, OTHER: 1}


def test_an_offset_vanishes_with_its_transaction(kit: GroupKit) -> None:
    kit.coordinator.commit("billing", {PLACE: 5})
    kit.coordinator.stage("billing", {PLACE: 9, OTHER: 2}, 7, 0, 1)
    kit.decisions.outcomes[7, 0, 1] = "aborted"
    assert kit.coordinator.committed("billing") == {PLACE: 5}


def test_the_later_offset_of_one_transaction_counts(kit: GroupKit) -> None:
    kit.coordinator.stage("billing", {PLACE: 3, OTHER: 1}, 7, 0, 1)
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    kit.decisions.outcomes[7, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {PLACE: 9, OTHER: 1}


def test_the_later_of_two_committed_transactions_counts(kit: GroupKit) -> None:
    kit.coordinator.stage("billing", {PLACE: 3}, 7, 0, 1)
    kit.coordinator.stage("billing", {PLACE: 9}, 8, 0, 1)
    kit.decisions.outcomes[8, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {PLACE: 9}
    kit.coordinator.settle("billing")
    kit.decisions.outcomes[7, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {PLACE: 9}


def test_what_is_settled_outlives_the_memory_of_its_transaction(kit: GroupKit) -> None:
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    kit.decisions.outcomes[7, 0, 1] = "committed"
    kit.coordinator.settle("billing")
    kit.decisions.outcomes.clear()
    assert kit.coordinator.committed("billing") == {PLACE: 9}


def test_a_plain_commit_keeps_what_transactions_have_decided(kit: GroupKit) -> None:
    kit.coordinator.stage("billing", {PLACE: 9, OTHER: 4}, 7, 0, 1)
    kit.decisions.outcomes[7, 0, 1] = "committed"
    kit.coordinator.commit("billing", {PLACE: 20})
    kit.decisions.outcomes.clear()
    assert kit.coordinator.committed("billing") == {PLACE: 20, OTHER: 4}


def test_offsets_are_staged_while_a_member_reads(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    settle_down(seat)
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    seat.commit({OTHER: 2})
    kit.decisions.outcomes[7, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {PLACE: 9, OTHER: 2}


def test_pending_offsets_of_a_deleted_topic_are_forgotten(kit: GroupKit) -> None:
    kit.coordinator.stage("billing", {PLACE: 9}, 7, 0, 1)
    kit.coordinator.forget_topic("orders")
    kit.decisions.outcomes[7, 0, 1] = "committed"
    assert kit.coordinator.committed("billing") == {}


def test_offsets_come_back_as_they_were_stored() -> None:
    offsets = GroupOffsets({PLACE: 5, OTHER: 2**40}).with_pending({PLACE: 6}, (2**50, 3, 4))
    assert decode_offsets(encode_offsets(offsets), "here") == offsets


def test_a_flipped_bit_in_any_byte_is_named() -> None:
    data = encode_offsets(GroupOffsets({PLACE: 5}).with_pending({OTHER: 6}, (1, 2, 3)))
    for index in range(len(data)):
        damaged = bytearray(data)
        damaged[index] ^= 1 << (index % 8)
        with pytest.raises(CorruptionError, match="GROUP_OFFSETS_CORRUPT") as caught:
            decode_offsets(bytes(damaged), "groups/billing/offsets")
        assert "groups/billing/offsets" in caught.value.fact
