"""What a cluster of brokers is to be: its nodes, their ports, and the settings of each."""

from __future__ import annotations

import base64
import socket
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

HOST = "127.0.0.1"
MOST_CONTROLLERS = 3
"""More would only have more to agree on."""
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Node:
    """A process of the cluster; one with a controller port votes on what the cluster is."""

    id: int
    port: int
    controller_port: int | None = None

    @property
    def address(self) -> str:
        """Where clients reach it."""
        return f"{HOST}:{self.port}"


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The nodes of a cluster, as they are noted between starts."""

    cluster_id: str
    nodes: tuple[Node, ...]

    @property
    def address(self) -> str:
        """Where clients begin: every broker, since one of them may be away."""
        return ",".join(node.address for node in self.nodes)

    def with_brokers(self, count: int) -> ClusterPlan:
        """Add brokers; those that vote stay the ones that voted from the start."""
        more = range(len(self.nodes) + 1, count + 1)
        ports = free_ports(len(more))
        added = tuple(Node(number, port) for number, port in zip(more, ports, strict=True))
        return replace(self, nodes=(*self.nodes, *added))

    def with_free_ports(self) -> ClusterPlan:
        """Give other ports to the nodes whose ports somebody else has taken."""
        return replace(self, nodes=tuple(_with_free_ports(node) for node in self.nodes))


def new_plan(brokers: int) -> ClusterPlan:
    """Plan a cluster; of two brokers one votes, since two could not go on without each other."""
    controllers = MOST_CONTROLLERS if brokers >= MOST_CONTROLLERS else 1
    ports = free_ports(brokers + controllers)
    voters = dict(enumerate(ports[brokers:], start=1))
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    nodes = (Node(n, ports[n - 1], voters.get(n)) for n in range(1, brokers + 1))
    return ClusterPlan(cluster_id, tuple(nodes))


def settings_of_node(
    plan: ClusterPlan, node: Node, data: Path, more: Mapping[str, str] | None = None
) -> str:
    """Give the settings of a node as its server reads them."""
    voters = [found for found in plan.nodes if found.controller_port is not None]
    copies = min(3, len(plan.nodes))
    in_sync = 2 if copies == MOST_CONTROLLERS else 1
    listeners = [f"PLAINTEXT://{node.address}"]
    if node.controller_port is not None:
        listeners.append(f"CONTROLLER://{HOST}:{node.controller_port}")
    settings = {
        "process.roles": "broker" if node.controller_port is None else "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.voters": ",".join(
            f"{voter.id}@{HOST}:{voter.controller_port}" for voter in voters
        ),
        "listeners": ",".join(listeners),
        "advertised.listeners": f"PLAINTEXT://{node.address}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
        "default.replication.factor": str(copies),
        "min.insync.replicas": str(in_sync),
        **_internal_topics(copies, in_sync),
        # A misspelt name is an error, and no new topic.
        "auto.create.topics.enable": "false",
        # Records keep the times that they are given, and those may be of years ago.
        "log.retention.ms": "-1",
        "group.initial.rebalance.delay.ms": "0",
        # A broker that was killed is waited for as long before it may come back.
        "broker.session.timeout.ms": "5000",
        "broker.heartbeat.interval.ms": "1000",
        # 128 MiB, which is half of a heap, unless it is said.
        "log.cleaner.dedupe.buffer.size": str(8 * 2**20),
        **(more or {}),
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def free_ports(count: int) -> list[int]:
    """Give ports of this machine that nobody listens at now."""
    # Held together, so that no two of them are the same.
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def taken(ports: Iterable[int | None], *, seconds: float = 5.0) -> list[int]:
    """Give those of the ports that somebody listens at, and does not let go of."""
    # The ports of a process that was killed are freed a moment after it is gone.
    until = time.monotonic() + seconds
    left = [port for port in ports if port is not None and _is_taken(port)]
    while left and time.monotonic() < until:
        time.sleep(_PAUSE)
        left = [port for port in left if _is_taken(port)]
    return left


def _with_free_ports(node: Node) -> Node:
    port, controller_port = node.port, node.controller_port
    if _is_taken(port):
        (port,) = free_ports(1)
    if controller_port is not None and _is_taken(controller_port):
        (controller_port,) = free_ports(1)
    return replace(node, port=port, controller_port=controller_port)


def _is_taken(port: int) -> bool:
    with socket.socket() as tried:
        # Connections that a server before had closed do not keep the next one out.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError:
            return True
    return False


def _internal_topics(copies: int, in_sync: int) -> dict[str, str]:
    return {
        "offsets.topic.replication.factor": str(copies),
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": str(in_sync),
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": str(in_sync),
        "share.coordinator.state.topic.num.partitions": "4",
    }
