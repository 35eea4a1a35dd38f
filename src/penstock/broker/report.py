"""How a cluster of brokers is: who is up, who controls, and whether every copy is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.broker.cluster import Cluster
from penstock.broker.plan import ClusterPlan
from penstock.broker.wire import ClusterView, QuorumView, describe_cluster, describe_quorum

BrokerState: TypeAlias = Literal["up", "silent", "down"]
"""Silent: its process is there, and does not answer."""
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class BrokerReport:
    """One broker."""

    id: int
    address: str
    state: BrokerState
    pid: int | None


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The cluster as those of its brokers know it that answer."""

    address: str
    brokers: tuple[BrokerReport, ...]
    controllers: tuple[int, ...]
    leading_controller: int | None
    topics: int | None
    partitions: int | None
    partitions_behind: int | None
    """Partitions with a copy that is not whole."""


def report_of(cluster: Cluster) -> ClusterReport | None:
    """Ask every broker; None where no cluster was ever started here."""
    plan = cluster.plan()
    if plan is None:
        return None
    brokers, view, quorum = [], None, None
    for node in plan.nodes:
        started = cluster.process_of(node.id)
        state: BrokerState = "down" if started is None else "silent"
        if started is not None:
            try:
                view = describe_cluster(node.port, seconds=_SECONDS)
                state = "up"
                quorum = quorum or describe_quorum(node.port, seconds=_SECONDS)
            except OSError:
                # Said by its state, and by there being no leading controller.
                pass
        pid = None if started is None else started.pid
        brokers.append(BrokerReport(node.id, node.address, state, pid))
    return _report(plan, tuple(brokers), view, quorum)


def _report(
    plan: ClusterPlan,
    brokers: tuple[BrokerReport, ...],
    view: ClusterView | None,
    quorum: QuorumView | None,
) -> ClusterReport:
    voters = tuple(node.id for node in plan.nodes if node.controller_port is not None)
    behind = [
        found
        for found in (view.partitions if view else ())
        if _is_behind(found.replicas, found.in_sync)
    ]
    return ClusterReport(
        address=plan.address,
        brokers=brokers,
        controllers=quorum.voters if quorum else voters,
        leading_controller=quorum.leader if quorum and quorum.leader > 0 else None,
        topics=len(view.topics) if view else None,
        partitions=len(view.partitions) if view else None,
        partitions_behind=len(behind) if view else None,
    )


def _is_behind(replicas: tuple[int, ...], in_sync: tuple[int, ...]) -> bool:
    return set(in_sync) != set(replicas)
