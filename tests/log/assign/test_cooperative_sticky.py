from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from penstock.log.assign.cooperative_sticky import assign_cooperative_sticky
from penstock.log.assign.racks import ReplicaRacks
from penstock.log.assign.subscription import Assignment, Subscription
from tests.log.assign import groups
from tests.log.assign.groups import check_even, check_valid, parts, reads, shown

MOST_ROUNDS = 4


def rounds(
    topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> list[Assignment]:
    """Let members come back with what they own until nothing changes."""
    newest = max(member.generation for member in members.values())
    given = [assign_cooperative_sticky(topics, members, racks)]
    while True:
        back = {
            name: replace(member, owned=given[-1][name], generation=newest + len(given))
            for name, member in members.items()
        }
        following = assign_cooperative_sticky(topics, back, racks)
        if shown(following) == shown(given[-1]):
            return given
        given.append(following)
        assert len(given) <= MOST_ROUNDS


@given(topics=groups.topics, members=groups.members, racks=groups.racks)
def test_a_group_comes_to_rest_valid_and_even(
    topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> None:
    last = rounds(topics, members, racks)[-1]
    check_valid(topics, members, last)
    check_even(members, last)


@given(topics=groups.topics, members=groups.members, racks=groups.racks)
def test_no_partition_is_taken_in_the_round_in_which_another_must_let_go(
    topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> None:
    claims: dict[object, set[tuple[int, str]]] = {}
    for name, member in members.items():
        for partition in member.owned:
            claims.setdefault(partition, set()).add((member.generation, name))
    first = assign_cooperative_sticky(topics, members, racks)
    for name, partitions in first.items():
        for partition in partitions:
            newest = max((one for one, _ in claims.get(partition, ())), default=0)
            holders = {member for one, member in claims.get(partition, ()) if one == newest}
            assert holders in (set(), {name})


def test_what_moves_is_withheld_for_one_round() -> None:
    members = {
        "m1": reads("t", owned=parts("t-0 t-1 t-2"), generation=1),
        "m2": reads("t", generation=1),
    }
    first, second = map(shown, rounds({"t": 3}, members, {}))
    assert first == {"m1": "t-0 t-1", "m2": ""}
    assert second == {"m1": "t-0 t-1", "m2": "t-2"}
