"""The cooperative sticky assignor: members keep reading what they keep."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.log.assign.racks import NO_RACKS, ReplicaRacks
from penstock.log.assign.sticky import share_stickily
from penstock.log.assign.subscription import Assignment, Subscription


def assign_cooperative_sticky(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    racks: ReplicaRacks = NO_RACKS,
) -> Assignment:
    """Share out stickily, but withhold what another member must give up first.

    The withheld partitions are given out in the next round, when the members come back
    with what they still own.
    """
    given, transferring = share_stickily(topics, members, racks)
    return {
        member: tuple(item for item in partitions if item not in transferring)
        for member, partitions in given.items()
    }
