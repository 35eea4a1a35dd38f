"""Checks of the facts about sharing partitions among the members of a group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from penstock.log.assign.assign import assign
from penstock.log.assign.racks import ReplicaRacks, racks_matter
from penstock.log.assign.sticky import share_stickily, vouched_claims
from penstock.log.assign.subscription import Assignment, Subscription, in_member_order
from penstock.log.record import TopicPartition
from tests.conformance.runner import Case, Check, holds, same

Fields: TypeAlias = Mapping[str, Any]
Members: TypeAlias = Mapping[str, Subscription]

COOPERATIVE = "cooperative-sticky"
_MOST_ROUNDS = 10
_OUR_NAMES = {"roundrobin": "round-robin"}


def check_assign(case: Case) -> None:
    """One round, or for the cooperative assignor all of them, member by member."""
    given, expect = case.given, case.expect
    members = members_of(given["members"])
    racks = _replica_racks(given)
    wanted = expect["assignment"]
    rounds = settle(assignor_of(given), given["topics"], members, racks)
    if "first_round" in expect:
        _same_assignment(rounds[0], expect["first_round"], expect)
    # An expected assignment that leaves partitions out can only be the first round's.
    whole = _count(wanted.values()) == _count(rounds[-1].values())
    got = rounds[-1] if whole else rounds[0]
    _same_assignment(got, wanted, expect)
    if "transferring" in expect:
        moving = transferring(assignor_of(given), given["topics"], members, racks)
        same(moving, expect["transferring"], "partitions that change hands")
    if "partitions_without_replica_on_consumer_rack" in expect:
        far = sum(
            members[member].rack not in racks.get(partition, ())
            for member, partitions in got.items()
            for partition in partitions
        )
        same(far, expect["partitions_without_replica_on_consumer_rack"], "far partitions")


def check_member_order(case: Case) -> None:
    """Static members before dynamic ones."""
    members = {
        member["member_id"]: Subscription(topics=(), instance_id=member["instance_id"])
        for member in case.given["members"]
    }
    same(in_member_order(members, members), case.expect["order"])


def check_rack_aware_used(case: Case) -> None:
    """When choosing by rack can gain anything."""
    partitions = case.given["partitions"]
    used = [
        racks_matter(setting["consumer_racks"], _replicas(setting, partitions))
        for setting in case.given["cases"]
    ]
    same(used, case.expect["used"])


def settle(
    name: str, topics: Mapping[str, int], members: Members, racks: ReplicaRacks | None = None
) -> list[Assignment]:
    """Assign; members of a cooperative group come back until nothing is withheld."""
    rounds = [assign(name, topics, members, racks=racks or {})]
    while name == COOPERATIVE:
        back = {
            member: replace(members[member], owned=partitions, generation=len(rounds))
            for member, partitions in rounds[-1].items()
        }
        following = assign(name, topics, back, racks=racks or {})
        if _sets(following) == _sets(rounds[-1]):
            break
        rounds.append(following)
        holds(len(rounds) <= _MOST_ROUNDS, "the group comes to rest")
    return rounds


def transferring(
    name: str, topics: Mapping[str, int], members: Members, racks: ReplicaRacks | None = None
) -> dict[str, str]:
    """The partitions that change hands, and their new member."""
    claims = members if name == COOPERATIVE else vouched_claims(members)
    share = share_stickily(topics, claims, racks or {})
    return {str(partition): member for partition, member in share.transferring.items()}


def assignor_of(given: Fields) -> str:
    """The assignor of a case, by our name."""
    name: str = given["assignor"]
    return _OUR_NAMES.get(name, name)


def members_of(fields: Mapping[str, Fields]) -> dict[str, Subscription]:
    """The members of a case, with what they own."""
    return {
        name: Subscription(
            topics=tuple(member["topics"]),
            instance_id=member.get("instance_id"),
            owned=tuple(map(partition_named, member.get("owned", ()))),
            generation=_or(member.get("generation"), -1),
            rack=member.get("rack"),
        )
        for name, member in fields.items()
    }


def partition_named(name: str) -> TopicPartition:
    """Read `topic-number`."""
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _replica_racks(given: Fields) -> dict[TopicPartition, list[str]]:
    return {
        partition_named(name): [rack for rack in racks if rack is not None]
        for name, racks in given.get("partition_replica_racks", {}).items()
    }


def _replicas(setting: Fields, partitions: int) -> list[frozenset[str]]:
    racks = setting["partition_racks"]
    if re.search(r"\bonly replica\b", setting["replicas"]):
        return [frozenset({racks[number % len(racks)]}) for number in range(partitions)]
    return [frozenset(racks)] * partitions


def _same_assignment(got: Assignment, wanted: Mapping[str, list[str]], expect: Fields) -> None:
    shown = {member: [str(item) for item in partitions] for member, partitions in got.items()}
    if expect.get("order") == "exact":
        same(shown, wanted, "assignment")
    else:
        same(
            {member: sorted(items) for member, items in shown.items()},
            {member: sorted(items) for member, items in wanted.items()},
            "assignment",
        )


def _sets(assignment: Assignment) -> dict[str, frozenset[TopicPartition]]:
    return {member: frozenset(partitions) for member, partitions in assignment.items()}


def _count(shares: Iterable[Iterable[object]]) -> int:
    return sum(1 for share in shares for _ in share)


ASSIGN_CHECKS: Mapping[str, Check] = {
    "assign": check_assign,
    "member_order": check_member_order,
    "rack_aware_used": check_rack_aware_used,
}
