from __future__ import annotations

import pytest

from penstock.model.dedup import Dedup
from penstock.model.physical import Settings
from penstock.plan.deployment import CALL, COLLECT, SHUFFLE, SOCKET, deploy
from penstock.plan.planner import plan
from tests.plan.programs import a_stream, program, the_shop

SETTINGS = [Settings(), Settings(parallelism=4), Settings(fuse=False), Settings(preaggregate=False)]


def test_one_program_has_several_deployments() -> None:
    assert len({deploy(plan(the_shop(), settings)) for settings in SETTINGS}) == len(SETTINGS)


def test_steps_are_fused_into_what_is_before_them() -> None:
    deployment = deploy(plan(the_shop()))
    assert [(e.id, e.kind) for e in deployment.elements] == [
        ("scan-views", "read"),
        ("agg-1", "keyed"),
        ("agg-2", "keyed"),
        ("out-views_by_region", "write"),
        ("out-views_in_all", "write"),
        ("out-seen", "write"),
    ]
    by = {(s.source, s.target): s.by for s in deployment.streams}
    assert by["scan-views", "agg-1"] == f"{CALL}, then {SHUFFLE}"
    assert by["scan-views", "out-seen"] == f"{CALL}, then {COLLECT}"
    assert by["agg-1", "out-views_by_region"] == COLLECT


def test_without_fusion_every_chain_is_an_element_of_its_own() -> None:
    deployment = deploy(plan(the_shop(), Settings(fuse=False)))
    assert [e.id for e in deployment.elements if e.kind == "chain"] == [
        "scan-views->agg-1",
        "scan-views->out-seen",
        "agg-1->agg-2",
    ]
    by = {(s.source, s.target): s.by for s in deployment.streams}
    assert by["scan-views", "scan-views->agg-1"] == SOCKET
    assert by["scan-views->agg-1", "agg-1"] == SHUFFLE
    assert by["agg-1", "out-views_by_region"] == COLLECT


def test_an_operator_has_an_instance_a_bucket_and_one_without_a_key_has_one() -> None:
    elements = {e.id: e for e in deploy(plan(the_shop(), Settings(buckets=6))).elements}
    assert (elements["agg-1"].instances, elements["agg-1"].tasks) == (6, 2)
    assert (elements["agg-2"].instances, elements["agg-2"].tasks) == (1, 1)


def test_copies_without_a_key_are_spread_by_all_their_columns() -> None:
    physical = plan(program(Dedup(a_stream(), ())), Settings(buckets=6))
    assert deploy(physical).elements[1].instances == 6


@pytest.mark.parametrize("parallelism", [1, 3])
def test_there_are_as_many_workers_as_tasks_at_a_time(parallelism: int) -> None:
    deployment = deploy(plan(the_shop(), Settings(parallelism=parallelism)))
    workers = [f"worker {number}" for number in range(1, parallelism + 1)]
    assert [p.name for p in deployment.processes] == ["driver", "jvm", "planner", *workers]
    assert {p for e in deployment.elements for p in e.processes} == {"driver", *workers}
    ends = {end for c in deployment.connections for end in (c.source, c.target)}
    assert ends == {"log", *(p.name for p in deployment.processes)}


def test_every_stream_joins_elements_that_exist() -> None:
    for settings in SETTINGS:
        deployment = deploy(plan(the_shop(), settings))
        known = {element.id for element in deployment.elements}
        ends = {end for stream in deployment.streams for end in (stream.source, stream.target)}
        assert {end for end in ends if not end.startswith("topic ")} == known
