"""Who holds what when a group is shared out anew, from what the members claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.log.assign.subscription import Subscription
from penstock.log.record import TopicPartition


@dataclass(frozen=True, slots=True)
class Ownership:
    """The holder of each partition; the newest claim wins and a tie leaves nobody.

    `former` is the member that held a partition in an older generation. Partitions
    claimed twice in one generation are `disputed`.
    """

    owner: Mapping[TopicPartition, str]
    former: Mapping[TopicPartition, str]
    disputed: frozenset[TopicPartition]


def resolve_claims(topics: Mapping[str, int], members: Mapping[str, Subscription]) -> Ownership:
    """Settle the claims of all members on partitions that exist."""
    claims: dict[TopicPartition, list[tuple[int, str]]] = {}
    for member, subscription in members.items():
        for partition in dict.fromkeys(subscription.owned):
            if 0 <= partition.partition < topics.get(partition.topic, 0):
                claims.setdefault(partition, []).append((subscription.generation, member))
    owner: dict[TopicPartition, str] = {}
    former: dict[TopicPartition, str] = {}
    disputed: set[TopicPartition] = set()
    for partition, claimants in claims.items():
        newest = max(generation for generation, _ in claimants)
        holders = [member for generation, member in claimants if generation == newest]
        older = [claim for claim in claimants if claim[0] < newest]
        if len(holders) == 1:
            owner[partition] = holders[0]
        else:
            disputed.add(partition)
        if older:
            former[partition] = max(older)[1]
    return Ownership(owner, former, frozenset(disputed))


def transfers(
    ownership: Ownership, given: Mapping[str, list[TopicPartition]]
) -> dict[TopicPartition, str]:
    """Name the new member of every partition that someone else must let go of first."""
    return {
        partition: member
        for member, partitions in given.items()
        for partition in partitions
        if partition in ownership.disputed or ownership.owner.get(partition, member) != member
    }
