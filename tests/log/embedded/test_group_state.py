from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.log.embedded.group_state import GroupState, Member, decode_state, encode_state
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.port import Assignor
from penstock.log.record import TopicPartition
from tests.log.embedded.group_kit import GroupKit, die, partitions, settle_down

ASSIGNORS: tuple[Assignor, ...] = ("range", "round-robin", "sticky", "cooperative-sticky")
ALL = partitions("orders", 0, 1, 2) | partitions("clicks", 0, 1, 2, 3)
STEPS = st.lists(
    st.tuples(st.sampled_from(["join", "leave", "die", "heartbeat", "release"]), st.integers(0, 5)),
    max_size=30,
)


def test_a_state_comes_back_as_it_was_stored() -> None:
    member = Member(
        member_id="a-1",
        client="a",
        topics=("orders", "clicks"),
        instance_id="host",
        session_timeout=5,
        joined_at=7,
        target=partitions("orders", 0, 2),
        owned=partitions("clicks", 1),
    )
    state = GroupState(4, "sticky", {"a-1": member})
    assert decode_state(encode_state(state)) == state


@pytest.mark.parametrize("data", [b"", b"00000000\n{}", b"garbage"])
def test_a_state_torn_by_a_power_cut_is_a_group_without_members(data: bytes) -> None:
    assert decode_state(data) == GroupState()


@pytest.mark.parametrize("assignor", ASSIGNORS)
@given(steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_no_partition_has_two_owners_and_in_the_end_each_has_one(
    assignor: Assignor, steps: list[tuple[str, int]]
) -> None:
    kit = GroupKit()
    seats: list[EmbeddedMembership] = []
    for action, which in steps:
        if action == "join" or not seats:
            seats.append(kit.coordinator.join("g", ["orders", "clicks"], assignor=assignor))
        else:
            _act(action, seats, which % len(seats))
        _check_disjoint(seats)
    settle_down(*seats)
    held = [place for seat in seats for place in seat.owned]
    assert sorted(held) == (sorted(ALL) if seats else [])


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_a_sticky_assignor_moves_only_what_balance_asks_for(assignor: Assignor) -> None:
    kit = GroupKit()
    seats = [kit.coordinator.join("g", ["orders", "clicks"], assignor=assignor) for _ in range(3)]
    settle_down(*seats)
    before = {seat: seat.owned for seat in seats}
    newcomer = kit.coordinator.join("g", ["orders", "clicks"], assignor=assignor)
    settle_down(*seats, newcomer)
    assert all(seat.owned <= before[seat] for seat in seats)
    assert sorted(len(seat.owned) for seat in [*seats, newcomer]) == [1, 2, 2, 2]


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_the_shares_of_one_topic_differ_by_at_most_one(assignor: Assignor) -> None:
    kit = GroupKit()
    kit.topics["wide"] = 17
    seats = [kit.coordinator.join("g", ["wide"], assignor=assignor) for _ in range(5)]
    settle_down(*seats)
    assert sorted(len(seat.owned) for seat in seats) == [3, 3, 3, 4, 4]


def _act(action: str, seats: list[EmbeddedMembership], which: int) -> None:
    seat = seats[which]
    if action == "leave":
        seat.leave()
        seats.pop(which)
    elif action == "die":
        die(seat)
        seats.pop(which)
    elif action == "heartbeat":
        seat.heartbeat()
    else:
        change = seat.heartbeat()
        if change is not None:
            seat.release(change.revoked)


def _check_disjoint(seats: list[EmbeddedMembership]) -> None:
    held: list[TopicPartition] = [place for seat in seats for place in seat.owned]
    assert len(held) == len(set(held))
