from __future__ import annotations

import pytest

from penstock.errors import GroupError, OffsetError, TopicError
from penstock.log.embedded import group_files
from penstock.log.port import Rebalance
from penstock.log.record import TopicPartition
from penstock.log.storage import held
from tests.log.embedded.group_kit import GroupKit, die, partitions, settle_down

ORDERS = partitions("orders", 0, 1, 2)
NONE = partitions("orders")


@pytest.fixture
def kit() -> GroupKit:
    return GroupKit()


def test_a_lone_member_gets_every_partition_with_its_first_heartbeat(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    assert seat.owned == NONE
    assert seat.heartbeat() == Rebalance(NONE, ORDERS)
    assert seat.owned == ORDERS
    assert seat.heartbeat() is None


def test_a_partition_passes_on_only_after_its_owner_released_it(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    second = kit.coordinator.join("billing", ["orders"])
    assert second.heartbeat() is None
    change = first.heartbeat()
    assert change is not None
    assert len(change.revoked) in {1, 2}
    assert second.heartbeat() is None
    assert first.owned == ORDERS
    first.release(change.revoked)
    assert second.heartbeat() == Rebalance(NONE, change.revoked)
    assert first.owned == ORDERS - change.revoked


def test_a_revocation_is_repeated_until_it_is_followed(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    kit.coordinator.join("billing", ["orders"])
    change = first.heartbeat()
    assert change is not None
    assert first.heartbeat() == change
    first.release(change.revoked)
    assert first.heartbeat() is None


def test_every_join_leave_and_death_begins_a_generation(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    third = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    assert first.generation == 3
    second.leave()
    first.heartbeat()
    assert first.generation == 4
    die(third)
    settle_down(first)
    assert first.generation == 5
    assert first.owned == ORDERS


def test_what_a_leaver_held_is_free_at_once(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    held = second.owned
    second.leave()
    assert first.heartbeat() == Rebalance(NONE, held)


def test_the_death_of_a_process_is_seen_at_the_next_heartbeat(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    held = second.owned
    die(second)
    assert first.heartbeat() == Rebalance(NONE, held)


def test_one_survivor_of_many_deaths_gets_everything(kit: GroupKit) -> None:
    seats = [kit.coordinator.join("billing", ["orders", "clicks"]) for _ in range(5)]
    settle_down(*seats)
    for seat in seats[1:]:
        die(seat)
    settle_down(seats[0])
    assert len(seats[0].owned) == 7
    assert [m.member_id for m in kit.coordinator.group("billing").members] == [seats[0].member_id]


def test_a_stuck_member_is_expelled_after_its_session_timeout(kit: GroupKit) -> None:
    well = kit.coordinator.join("billing", ["orders"])
    stuck = kit.coordinator.join("billing", ["orders"])
    settle_down(well, stuck)
    for _ in range(9):
        kit.clock.advance(1000)
        well.heartbeat()
    assert well.owned != ORDERS
    for _ in range(3):
        kit.clock.advance(1000)
        well.heartbeat()
    assert well.owned == ORDERS
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        stuck.heartbeat()
    assert stuck.owned == NONE


def test_a_member_that_beats_is_never_expelled(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    for _ in range(50):
        kit.clock.advance(1000)
        assert first.heartbeat() is None
        assert second.heartbeat() is None


@pytest.mark.parametrize("step", [3_600_000, -3_600_000])
def test_a_clock_that_jumps_expels_nobody(kit: GroupKit, step: int) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    for _ in range(3):
        kit.clock.advance(step)
        assert first.heartbeat() is None
        assert second.heartbeat() is None


def test_a_member_beats_on_after_the_clock_was_set_back(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    kit.clock.advance(-500_000)
    seat.heartbeat()
    (member,) = kit.coordinator.group("billing").members
    assert member.heartbeat_at == kit.clock.now()


def test_a_zombie_cannot_commit_after_its_expulsion(kit: GroupKit) -> None:
    well = kit.coordinator.join("billing", ["orders"])
    zombie = kit.coordinator.join("billing", ["orders"])
    settle_down(well, zombie)
    place = next(iter(zombie.owned))
    zombie.commit({place: 5})
    for _ in range(12):
        kit.clock.advance(1000)
        well.heartbeat()
    well.commit({place: 9})
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        zombie.commit({place: 6})
    assert kit.coordinator.committed("billing") == {place: 9}


def test_a_member_cannot_commit_what_it_does_not_hold(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    foreign = next(iter(second.owned))
    with pytest.raises(GroupError, match="GROUP_FENCED") as caught:
        first.commit({foreign: 1})
    assert str(foreign) in caught.value.fact
    assert kit.coordinator.committed("billing") == {}


def test_a_seat_that_was_left_is_fenced_and_can_be_left_again(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    seat.leave()
    seat.leave()
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        seat.heartbeat()


def test_revoked_partitions_can_be_committed_until_they_are_released(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    kit.coordinator.join("billing", ["orders"])
    change = first.heartbeat()
    assert change is not None
    place = next(iter(change.revoked))
    first.commit({place: 7})
    first.release(change.revoked)
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        first.commit({place: 8})
    assert kit.coordinator.committed("billing") == {place: 7}


def test_three_partitions_leave_two_of_five_members_idle(kit: GroupKit) -> None:
    seats = [kit.coordinator.join("billing", ["orders"]) for _ in range(5)]
    settle_down(*seats)
    assert sorted(len(seat.owned) for seat in seats) == [0, 0, 1, 1, 1]


def test_groups_do_not_know_one_another(kit: GroupKit) -> None:
    billing = kit.coordinator.join("billing", ["orders"])
    audit = kit.coordinator.join("audit", ["orders"])
    settle_down(billing, audit)
    assert billing.owned == audit.owned == ORDERS
    billing.commit({TopicPartition("orders", 0): 10})
    audit.commit({TopicPartition("orders", 0): 500})
    assert kit.coordinator.committed("billing") == {TopicPartition("orders", 0): 10}
    assert kit.coordinator.committed("audit") == {TopicPartition("orders", 0): 500}
    assert kit.coordinator.groups() == ("audit", "billing")


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "über groß", "a%2Fb", "x" * 240])
def test_any_printable_name_is_a_group(kit: GroupKit, name: str) -> None:
    kit.coordinator.commit(name, {TopicPartition("orders", 0): 1})
    assert kit.coordinator.groups() == (name,)
    assert kit.coordinator.group(name).committed == {TopicPartition("orders", 0): 1}


@pytest.mark.parametrize("name", ["", "x" * 241])
def test_a_name_that_cannot_be_kept_is_refused(kit: GroupKit, name: str) -> None:
    with pytest.raises(GroupError, match="GROUP_NAME"):
        kit.coordinator.join(name, ["orders"])


def test_a_client_name_of_any_kind_begins_the_member_id(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"], client="../etc/passwd of me")
    assert seat.member_id.startswith("_etc_passwd_of_me-")
    assert kit.coordinator.group("billing").members[0].client == "../etc/passwd of me"


def test_the_view_shows_targets_holdings_and_heartbeats(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"], client="one", assignor="round-robin")
    first.heartbeat()
    second = kit.coordinator.join("billing", ["orders"], client="two", assignor="round-robin")
    info = kit.coordinator.group("billing")
    assert (info.name, info.generation, info.assignor) == ("billing", 2, "round-robin")
    shown = {member.client: member for member in info.members}
    assert set(shown["one"].owned) == ORDERS
    assert shown["two"].owned == ()
    assert {*shown["one"].assigned, *shown["two"].assigned} == ORDERS
    assert shown["two"].member_id == second.member_id
    assert shown["two"].heartbeat_at == kit.clock.now()


def test_the_view_shows_no_dead_member(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    die(seat)
    assert kit.coordinator.group("billing").members == ()


def test_a_missing_group_is_named_and_corrected(kit: GroupKit) -> None:
    kit.coordinator.join("billing", ["orders"])
    with pytest.raises(GroupError, match="GROUP_MISSING") as caught:
        kit.coordinator.group("biling")
    assert caught.value.hint == 'Did you mean "billing"?'
    assert kit.coordinator.committed("biling") == {}


def test_a_member_with_another_assignor_is_refused_while_others_sit(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"], assignor="sticky")
    with pytest.raises(GroupError, match="GROUP_ASSIGNOR"):
        kit.coordinator.join("billing", ["orders"], assignor="range")
    seat.leave()
    kit.coordinator.join("billing", ["orders"], assignor="range")
    assert kit.coordinator.group("billing").assignor == "range"


def test_joining_for_a_topic_that_does_not_exist_is_refused(kit: GroupKit) -> None:
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        kit.coordinator.join("billing", ["odrers"])
    assert kit.coordinator.groups() == ()


def test_a_topic_deleted_later_is_shared_out_no_more(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders", "clicks"])
    settle_down(first)
    del kit.topics["clicks"]
    second = kit.coordinator.join("billing", ["orders"])
    settle_down(first, second)
    assert first.owned | second.owned == ORDERS


def test_a_news_wakes_a_waiting_member(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    assert not first.wait(0)
    kit.coordinator.join("billing", ["orders"])
    assert first.wait(0)
    assert not first.wait(0)


def test_news_from_before_the_first_wait_are_not_missed(kit: GroupKit) -> None:
    first = kit.coordinator.join("billing", ["orders"])
    first.heartbeat()
    kit.coordinator.join("billing", ["orders"])
    assert first.wait(0)


def test_outsiders_set_offsets_only_of_partitions_nobody_reads(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    seat.heartbeat()
    with pytest.raises(GroupError, match="GROUP_ACTIVE"):
        kit.coordinator.commit("billing", {TopicPartition("orders", 0): 0})
    kit.coordinator.commit("billing", {TopicPartition("clicks", 0): 3})
    seat.leave()
    kit.coordinator.commit("billing", {TopicPartition("orders", 0): 0})
    assert kit.coordinator.committed("billing") == {
        TopicPartition("orders", 0): 0,
        TopicPartition("clicks", 0): 3,
    }


def test_offsets_of_a_group_whose_members_died_can_be_set(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    seat.heartbeat()
    die(seat)
    kit.coordinator.commit("billing", {TopicPartition("orders", 0): 4})
    assert kit.coordinator.committed("billing") == {TopicPartition("orders", 0): 4}


def test_offsets_that_cannot_be_are_refused(kit: GroupKit) -> None:
    with pytest.raises(OffsetError, match="OFFSET_NEGATIVE"):
        kit.coordinator.commit("billing", {TopicPartition("orders", 0): -1})
    with pytest.raises(TopicError, match="PARTITION_RANGE"):
        kit.coordinator.commit("billing", {TopicPartition("orders", 3): 1})
    with pytest.raises(TopicError, match="TOPIC_MISSING"):
        kit.coordinator.commit("billing", {TopicPartition("odrers", 0): 1})


def test_a_group_is_deleted_when_nobody_reads(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    seat.heartbeat()
    seat.commit({TopicPartition("orders", 0): 4})
    with pytest.raises(GroupError, match="GROUP_ACTIVE"):
        kit.coordinator.delete("billing")
    seat.leave()
    kit.coordinator.delete("billing")
    assert kit.coordinator.groups() == ()
    assert kit.coordinator.committed("billing") == {}
    with pytest.raises(GroupError, match="GROUP_MISSING"):
        kit.coordinator.delete("billing")


def test_a_new_topic_of_an_old_name_is_read_from_its_beginning(kit: GroupKit) -> None:
    kit.coordinator.commit(
        "billing", {TopicPartition("orders", 0): 9, TopicPartition("clicks", 1): 2}
    )
    kit.coordinator.forget_topic("orders")
    assert kit.coordinator.committed("billing") == {TopicPartition("clicks", 1): 2}


def test_a_process_stopped_while_it_changes_the_group_is_told_of(
    kit: GroupKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_files, "_PATIENCE", 0.01)
    seat = kit.coordinator.join("billing", ["orders"])
    lock = kit.storage.lock("groups/billing/lock")
    with held(lock), pytest.raises(GroupError, match="GROUP_BUSY"):
        seat.heartbeat()
    seat.heartbeat()
    assert seat.owned == ORDERS


def test_all_state_lies_below_groups_and_leavers_leave_no_files(kit: GroupKit) -> None:
    seat = kit.coordinator.join("billing", ["orders"])
    seat.heartbeat()
    seat.commit({TopicPartition("orders", 0): 1})
    assert kit.storage.list("") == ["groups"]
    seat.leave()
    assert kit.storage.list("groups/billing") == ["lock", "members", "offsets", "state"]
    assert kit.storage.list("groups/billing/members") == []
