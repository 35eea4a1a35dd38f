from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from penstock.errors import GroupError
from penstock.log.assign.assign import ASSIGNORS, assign, assignor
from penstock.log.assign.racks import ReplicaRacks
from penstock.log.assign.subscription import Subscription, in_member_order
from tests.log.assign import groups
from tests.log.assign.groups import check_valid, reads

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["range", "round-robin", "sticky"])
@given(topics=groups.topics, members=groups.members, racks=groups.racks)
def test_every_partition_is_given_exactly_once_to_a_reader(
    name: str, topics: dict[str, int], members: dict[str, Subscription], racks: ReplicaRacks
) -> None:
    check_valid(topics, members, assign(name, topics, members, racks=racks))


@pytest.mark.parametrize("name", ASSIGNORS)
@given(topics=groups.topics, members=groups.members)
def test_the_order_in_which_members_came_does_not_matter(
    name: str, topics: dict[str, int], members: dict[str, Subscription]
) -> None:
    backwards = dict(reversed(members.items()))
    assert assign(name, topics, members) == assign(name, topics, backwards)


@pytest.mark.parametrize("name", ASSIGNORS)
@pytest.mark.parametrize(
    ("topics", "members"),
    [
        ({}, {}),
        ({"t": 3}, {}),
        ({}, {"m": reads()}),
        ({"t": 3}, {"m": reads()}),
        ({}, {"m": reads("t")}),
        ({"t": 0}, {"m": reads("t")}),
    ],
)
def test_nothing_to_share_gives_every_member_nothing(
    name: str, topics: Mapping[str, int], members: Mapping[str, Subscription]
) -> None:
    assert assign(name, topics, members) == dict.fromkeys(members, ())


def test_a_misspelt_assignor_is_named_and_corrected() -> None:
    with pytest.raises(GroupError, match="ASSIGNOR_UNKNOWN") as caught:
        assignor("round_robin")
    assert caught.value.hint == 'Did you mean "round-robin"?'


def test_another_assignor_is_told_which_there_are() -> None:
    with pytest.raises(GroupError, match="ASSIGNOR_UNKNOWN") as caught:
        assign("fair", {}, {})
    assert caught.value.hint == "Choose one of: range, round-robin, sticky, cooperative-sticky."


def test_static_members_come_first_by_instance() -> None:
    members = {
        "d": reads(),
        "a": reads(),
        "b": reads(instance_id="y"),
        "c": reads(instance_id="x"),
    }
    assert in_member_order(members, members) == ["c", "b", "a", "d"]
