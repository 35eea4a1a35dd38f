from __future__ import annotations

import socket
from pathlib import Path

import pytest

from penstock.broker.plan import (
    HOST,
    ClusterPlan,
    Node,
    free_ports,
    new_plan,
    settings_of_node,
    taken,
)


def settings(plan: ClusterPlan, number: int, **more: str) -> dict[str, str]:
    text = settings_of_node(plan, plan.nodes[number - 1], Path("/d"), more)
    return dict(line.split("=", 1) for line in text.splitlines())


@pytest.mark.parametrize(("brokers", "voters"), [(1, 1), (2, 1), (3, 3), (5, 3)])
def test_one_or_three_brokers_vote(brokers: int, voters: int) -> None:
    nodes = new_plan(brokers).nodes
    assert [node.id for node in nodes] == list(range(1, brokers + 1))
    ports = [port for node in nodes for port in (node.port, node.controller_port) if port]
    assert len(set(ports)) == len(ports) == brokers + voters


@pytest.mark.parametrize(("brokers", "copies", "in_sync"), [(1, 1, 1), (2, 2, 1), (3, 3, 2)])
def test_copies_are_as_many_as_brokers_up_to_three(brokers: int, copies: int, in_sync: int) -> None:
    found = settings(new_plan(brokers), 1)
    for name in ("default", "offsets.topic", "transaction.state.log"):
        assert found[f"{name}.replication.factor"] == str(copies)
    assert found["min.insync.replicas"] == str(in_sync)
    assert found["transaction.state.log.min.isr"] == str(in_sync)


def test_a_node_listens_at_this_machine_only() -> None:
    plan = new_plan(4)
    for number in range(1, 5):
        found = settings(plan, number)
        ends = found["listeners"].split(",") + found["advertised.listeners"].split(",")
        assert all(f"://{HOST}:" in end for end in ends)


def test_who_is_added_does_not_vote_and_nobody_else_changes() -> None:
    plan = new_plan(1)
    larger = plan.with_brokers(3)
    assert larger.nodes[:1] == plan.nodes
    assert settings(larger, 3)["process.roles"] == "broker"
    voters = settings(larger, 3)["controller.quorum.voters"]
    assert voters == f"1@{HOST}:{plan.nodes[0].controller_port}"
    assert larger.address.count(",") == 2


def test_a_port_that_somebody_took_is_changed_and_others_stay() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        held = other.getsockname()[1]
        one, two = free_ports(2)
        plan = ClusterPlan("c", (Node(1, held, one), Node(2, two, held)))
        assert taken((held, one, None), seconds=0.1) == [held]
        first, second = plan.with_free_ports().nodes
    assert (first.port != held, first.controller_port) == (True, one)
    assert (second.port, second.controller_port != held) == (two, True)


def test_settings_beside_ours_win() -> None:
    assert settings(new_plan(1), 1, **{"log.retention.ms": "5"})["log.retention.ms"] == "5"
