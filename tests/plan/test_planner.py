from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from penstock.errors import PlanError
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Measure
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import FOREVER, Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Union
from penstock.model.top_n import TopN
from penstock.model.window import Tumbling
from penstock.plan.planner import plan
from tests.plan.programs import (
    MINUTE,
    a_stream,
    above,
    count_by,
    program,
    running_sum,
    select,
    the_shop,
)


def chains(physical: Physical) -> dict[str, list[str]]:
    """The steps of every chain by its id."""
    found = [chain for scan in physical.scans for chain in scan.chains]
    found += [chain for keyed in physical.operators for chain in keyed.chains]
    return {chain.id: [type(step).__name__ for step in chain.steps] for chain in found}


def chains_in_order(physical: Physical) -> list[str]:
    return [chain.id for scan in physical.scans for chain in scan.chains]


def late(source: Relation, keep: timedelta | None, key: str = "user") -> Aggregate:
    counted = count_by(source, key)
    return replace(counted, refinement=Refinement("retracting", keep))


def test_a_program_is_cut_where_something_is_remembered() -> None:
    physical = plan(the_shop())
    assert [scan.id for scan in physical.scans] == ["scan-views"]
    assert [[keyed.id for keyed in level] for level in physical.levels] == [["agg-1"], ["agg-2"]]
    assert [output.id for output in physical.outputs] == [
        "out-views_by_region",
        "out-views_in_all",
        "out-seen",
    ]
    assert chains(physical) == {
        "scan-views->agg-1": ["Filter", "Project"],
        "scan-views->out-seen": ["Filter", "Project"],
        "agg-1->agg-2": ["Project"],
        "agg-1->out-views_by_region": [],
        "agg-2->out-views_in_all": [],
    }


def test_a_program_without_state_is_one_chain() -> None:
    physical = plan(program(Filter(a_stream(), above("n", 1))))
    assert physical.levels == ()
    assert physical.operators == ()
    assert chains(physical) == {"scan-views->out-out": ["Filter"]}


def test_names_follow_the_order_of_the_program_and_nothing_else() -> None:
    assert plan(the_shop()) == plan(the_shop())
    one, other = count_by(a_stream(), "user"), TopN(a_stream(), ("user",), "n", 1)
    physical = plan(program(Dedup(one, ("user",)), other, count_by(a_stream(), "page")))
    assert [keyed.id for keyed in physical.operators] == ["agg-1", "top-1", "agg-2", "dedup-1"]


def test_what_is_used_twice_is_computed_once() -> None:
    counted = count_by(a_stream(), "user")
    again = count_by(a_stream(), "user", site="elsewhere.py:1")
    physical = plan(program(counted, again, Filter(counted, above("rows", 1))))
    assert len(physical.scans) == 1
    (keyed,) = physical.operators
    assert [chain.target for chain in keyed.chains] == ["out-out", "out-out-2", "out-out-3"]


def test_two_ways_to_read_one_topic_are_two_scans() -> None:
    timed, untimed = a_stream(), a_stream(event_time=None)
    physical = plan(program(count_by(timed, "user"), count_by(untimed, "user")))
    assert [scan.id for scan in physical.scans] == ["scan-views", "scan-views#2"]


def test_the_chains_of_a_union_meet_at_one_target() -> None:
    union = Union((Filter(a_stream("a"), above("n", 1)), a_stream("b")))
    assert chains(plan(program(count_by(union, "user")))) == {
        "scan-a->agg-1": ["Filter", "Project", "Union"],
        "scan-b->agg-1": ["Union"],
        "agg-1->out-out": [],
    }


def test_a_stream_united_with_itself_comes_twice() -> None:
    stream = a_stream()
    assert chains(plan(program(Union((stream, stream))))) == {
        "scan-views->out-out": ["Union"],
        "scan-views->out-out#2": ["Union"],
    }


def test_no_two_parts_of_a_plan_have_one_name() -> None:
    twice, again = a_stream("v"), a_stream("v", event_time=None)
    physical = plan(program(Union((twice, twice)), twice, again, a_stream("v-2")))
    names = [scan.id for scan in physical.scans] + [output.id for output in physical.outputs]
    names += chains_in_order(physical)
    assert len(set(names)) == len(names)


def test_an_operator_waits_for_the_deepest_before_it() -> None:
    first = select(count_by(a_stream(), "user"), "user")
    second = select(Dedup(first, ("user",)), "user")
    third = count_by(Union((second, select(a_stream("b"), "user"), first)), "user")
    physical = plan(program(third))
    assert [[keyed.id for keyed in level] for level in physical.levels] == [
        ["agg-1"],
        ["dedup-1"],
        ["agg-2"],
    ]
    assert [keyed.level for keyed in physical.operators] == [0, 1, 2]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (None, None, timedelta(0)),
        (timedelta(hours=1), None, timedelta(hours=1)),
        (None, timedelta(hours=2), timedelta(hours=2)),
        (timedelta(hours=1), MINUTE, MINUTE),
        (FOREVER, None, FOREVER),
    ],
)
def test_what_is_given_late_is_not_too_late_for_the_next(
    first: timedelta | None, second: timedelta | None, kept: timedelta
) -> None:
    physical = plan(program(late(Filter(late(a_stream(), first), above("rows", 1)), second)))
    assert [keyed.keep_late for keyed in physical.operators] == [first or timedelta(0), kept]


def test_the_longest_lateness_of_several_inputs_counts_and_passes_through_all() -> None:
    one = late(a_stream("a"), timedelta(hours=1))
    other = late(a_stream("b"), timedelta(hours=3))
    best = TopN(Union((one, other)), ("user",), "rows", 3)
    physical = plan(program(late(Dedup(best, ("user",)), None)))
    assert [keyed.keep_late for keyed in physical.operators][2:] == [timedelta(hours=3)] * 3


def test_settings_go_with_the_plan_and_change_nothing_of_it() -> None:
    settings = Settings(buckets=3, parallelism=7, fuse=False)
    physical = plan(the_shop(), settings)
    assert physical.settings == settings
    assert replace(physical, settings=Settings()) == plan(the_shop())


@pytest.mark.parametrize("settings", [Settings(buckets=0), Settings(parallelism=-1)])
def test_settings_that_run_nothing_are_refused(settings: Settings) -> None:
    with pytest.raises(PlanError, match="PLAN_SETTING"):
        plan(the_shop(), settings)


@pytest.mark.parametrize(
    "sink",
    [
        Sink(a_stream(), "views", site="a.py:1"),
        Sink(a_stream(), "out", late="views", site="a.py:1"),
        Sink(a_stream(), "out", dead="views", site="a.py:1"),
    ],
)
def test_a_program_that_reads_what_it_writes_is_refused(sink: Sink) -> None:
    with pytest.raises(PlanError, match="PLAN_LOOP") as caught:
        plan(Plan("loop", (sink,)))
    assert "a.py:1" in caught.value.fact


def test_the_input_of_an_operator_has_the_columns_that_its_frames_have() -> None:
    """What a chain gives and what its operator expects are the same columns."""
    both = Aggregate(
        Filter(a_stream(), above("n", 1)),
        ("region",),
        (Measure("people", "count_distinct", (select(a_stream(), "user").columns[0].expr,)),),
        Tumbling(MINUTE),
    )
    physical = plan(program(both, running_sum(both, "people")))
    for keyed in physical.operators:
        ends = [
            chain.steps[-1].schema.names if chain.steps else source.columns
            for source in physical.scans
            for chain in source.chains
            if chain.target == keyed.id
        ]
        assert all(names == keyed.relation.inputs[0].schema.names for names in ends)
