"""Sharing the partitions of topics among the members of a group, by a named rule."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from penstock.errors import GroupError, did_you_mean
from penstock.log.assign.cooperative_sticky import assign_cooperative_sticky
from penstock.log.assign.racks import NO_RACKS, ReplicaRacks
from penstock.log.assign.range import assign_range
from penstock.log.assign.round_robin import assign_round_robin
from penstock.log.assign.sticky import assign_sticky
from penstock.log.assign.subscription import Assignment, Subscription


class AssignorFunction(Protocol):
    """Gives every partition that someone reads to one of its readers."""

    def __call__(
        self,
        topics: Mapping[str, int],
        members: Mapping[str, Subscription],
        racks: ReplicaRacks = ...,
    ) -> Assignment:
        """Share out; `topics` holds the number of partitions of each."""
        ...


ASSIGNORS: Mapping[str, AssignorFunction] = MappingProxyType(
    {
        "range": assign_range,
        "round-robin": assign_round_robin,
        "sticky": assign_sticky,
        "cooperative-sticky": assign_cooperative_sticky,
    }
)


def assignor(name: str) -> AssignorFunction:
    """Find a rule by its name; a misspelt one is named and corrected."""
    if name not in ASSIGNORS:
        raise GroupError(
            "ASSIGNOR_UNKNOWN",
            f'assignor "{name}" does not exist',
            hint=did_you_mean(name, ASSIGNORS) or f"Choose one of: {', '.join(ASSIGNORS)}.",
        )
    return ASSIGNORS[name]


def assign(
    name: str,
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    *,
    racks: ReplicaRacks = NO_RACKS,
) -> Assignment:
    """Share partitions out by a named rule; every member has an entry, however empty.

    `topics` holds the number of partitions of each. Topics that nobody reads and
    subscriptions to topics that do not exist are passed over. "cooperative-sticky" may
    leave partitions to the next round; the others give out all of them.
    """
    return assignor(name)(topics, members, racks)
