from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.log.assign.racks import ReplicaRacks
from penstock.log.assign.sticky import assign_sticky, share_stickily
from penstock.log.assign.subscription import Assignment, Subscription
from penstock.log.record import TopicPartition
from tests.log.assign import groups
from tests.log.assign.groups import check_even, part, parts, reads, shown

pytestmark = pytest.mark.slow


def rejoined(
    members: dict[str, Subscription], assignment: Assignment, generation: int = 5
) -> dict[str, Subscription]:
    return {
        name: replace(member, owned=assignment[name], generation=generation)
        for name, member in members.items()
    }


@given(topics=groups.topics, members=groups.alike, racks=groups.racks)
def test_equal_subscriptions_give_sizes_that_differ_by_one_at_most(
    topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> None:
    sizes = [len(given) for given in assign_sticky(topics, members, racks).values()]
    assert max(sizes) - min(sizes) <= 1


@given(topics=groups.topics, members=groups.members, racks=groups.racks)
def test_shares_are_as_even_as_subscriptions_allow(
    topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> None:
    check_even(members, assign_sticky(topics, members, racks))


@given(topics=groups.topics, members=groups.members)
def test_a_group_that_does_not_change_keeps_everything(
    topics: dict[str, int], members: dict[str, Subscription]
) -> None:
    first = assign_sticky(topics, members)
    again = assign_sticky(topics, rejoined(members, first))
    assert shown(again) == shown(first)


@given(topics=groups.topics, members=groups.alike, leaver=groups.names)
def test_when_a_member_leaves_the_others_keep_what_they_have(
    topics: dict[str, int], members: dict[str, Subscription], leaver: str
) -> None:
    first = assign_sticky(topics, members)
    stay = {name: one for name, one in rejoined(members, first).items() if name != leaver}
    second = assign_sticky(topics, stay)
    assert all(set(first[name]) <= set(second[name]) for name in stay)


@given(topics=groups.topics, members=groups.alike)
def test_a_new_member_takes_no_more_than_its_share_of_moves(
    topics: dict[str, int], members: dict[str, Subscription]
) -> None:
    first = assign_sticky(topics, members)
    wants = next(iter(members.values())).topics
    grown = rejoined(members, first) | {"new": reads(*wants)}
    second = assign_sticky(topics, grown)
    stayed = sum(len(set(first[name]) & set(second[name])) for name in members)
    assert stayed == sum(map(len, second.values())) - len(second["new"])


@given(
    topics=groups.topics,
    members=groups.members,
    changed=st.lists(groups.members, min_size=1, max_size=1),
)
def test_members_never_swap_partitions_of_one_topic(
    topics: dict[str, int],
    members: dict[str, Subscription],
    changed: list[dict[str, Subscription]],
) -> None:
    first = assign_sticky(topics, members)
    wants = {name: changed[0].get(name, member) for name, member in members.items()}
    second = assign_sticky(topics, rejoined(wants, first))
    old = {item: name for name, items in first.items() for item in items}
    moves = {
        (item.topic, old[item], name)
        for name, items in second.items()
        for item in items
        if old.get(item, name) != name
    }
    assert not {move for move in moves if (move[0], move[2], move[1]) in moves}


def test_a_claim_of_an_older_generation_loses() -> None:
    members = {
        "m1": reads("t", owned=parts("t-0 t-1"), generation=2),
        "m2": reads("t", owned=parts("t-0 t-1"), generation=3),
    }
    assert shown(assign_sticky({"t": 4}, members)) == {"m1": "t-2 t-3", "m2": "t-0 t-1"}


def test_what_two_members_claim_in_one_generation_is_nobodys() -> None:
    members = {
        "m1": reads("t", owned=parts("t-0 t-1"), generation=1),
        "m2": reads("t", owned=parts("t-0 t-2"), generation=1),
        "m3": reads("t", generation=1),
    }
    share = share_stickily({"t": 3}, members)
    assert share.given == {"m1": [part("t-1")], "m2": [part("t-2")], "m3": [part("t-0")]}
    assert share.transferring == {part("t-0"): "m3"}


def test_a_claim_on_what_no_longer_exists_is_dropped() -> None:
    claims = (TopicPartition("gone", 0), TopicPartition("t", 7), TopicPartition("t", 1))
    members = {"m1": reads("t", owned=claims, generation=1), "m2": reads("t", generation=1)}
    assert shown(assign_sticky({"t": 2}, members)) == {"m1": "t-1", "m2": "t-0"}


def test_a_former_holder_that_no_longer_reads_a_topic_does_not_get_it_back() -> None:
    members = {
        "m1": reads("u", owned=parts("t-0 t-1 t-2"), generation=1),
        "m2": reads("t", "u", owned=parts("t-0 t-1 t-2"), generation=2),
    }
    assert shown(assign_sticky({"t": 3, "u": 1}, members)) == {"m1": "u-0", "m2": "t-0 t-1 t-2"}


def test_owned_partitions_move_to_the_rack_of_a_replica() -> None:
    members = {
        "m1": reads("t", owned=parts("t-0 t-1"), generation=1, rack="a"),
        "m2": reads("t", owned=parts("t-2 t-3"), generation=1, rack="b"),
    }
    racks = {part(f"t-{number}"): ["b" if number < 2 else "a"] for number in range(4)}
    assert shown(assign_sticky({"t": 4}, members, racks)) == {"m1": "t-2 t-3", "m2": "t-0 t-1"}


def test_a_large_group_is_shared_out_in_seconds() -> None:
    topics = {f"t{number:03}": 100 for number in range(100)}
    halves = (tuple(topics)[:50], tuple(topics)[50:])
    members = {f"m{number:03}": reads(*halves[number % 4 > 0]) for number in range(400)}
    first = assign_sticky(topics, members)
    check_even(members, first)
    again = assign_sticky(topics, rejoined(members, first))
    assert shown(again) == shown(first)
