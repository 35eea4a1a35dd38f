from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.trigger.machine import Machine
from penstock.model.expr import Column
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from tests.kernel.trigger.panes import Panes

ENDS = (10, 20, 30)
MERGED = (20, 30)

spans = st.integers(1, 12).map(lambda number: timedelta(milliseconds=number))
leaves: st.SearchStrategy[Trigger] = st.one_of(
    st.builds(AfterRows, st.integers(1, 4), st.booleans()),
    st.builds(AfterDelay, spans, st.none() | spans),
    st.builds(AfterEventTime, spans),
    st.sampled_from((AfterWatermark(), WhenWatermark(), Always(), Never())),
    st.just(AfterRow(Column("urgent"))),
)


def _composites(parts: st.SearchStrategy[Trigger]) -> st.SearchStrategy[Trigger]:
    some = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Repeat, parts),
        st.builds(AnyOf, some),
        st.builds(AllOf, some),
        st.builds(Sequence, some),
        st.builds(Until, parts, parts),
        st.builds(WhenClosed, st.none() | parts, st.none() | parts),
    )


triggers = st.recursive(leaves, _composites, max_leaves=5)
counting = st.recursive(
    st.builds(AfterRows, st.integers(1, 5)) | st.sampled_from((Never(), AfterWatermark())),
    _composites,
    max_leaves=5,
)
rows = st.lists(st.integers(0, 3), min_size=3, max_size=3)
events = st.lists(
    st.one_of(
        st.tuples(st.just("take"), rows, st.integers(0, 40), st.integers(0, 1)),
        st.tuples(st.just("watermark"), st.integers(0, 8)),
        st.tuples(st.just("clock"), st.integers(0, 8)),
        st.tuples(st.just("fire")),
    ),
    max_size=12,
)


def _play(panes: Panes, event: tuple[Any, ...], chosen: list[int]) -> None:
    match event:
        case ("take", counts, time, hit):
            hits = dict.fromkeys(panes.machine.conditions, hit)
            panes.take(*(counts[pane] for pane in chosen), time=time, hits=hits)
        case ("watermark", step):
            panes.at(watermark=panes.watermark + step)
        case ("clock", step):
            panes.at(clock=panes.clock + step)
        case _:
            panes.fire()


@given(triggers, st.booleans(), events)
def test_panes_side_by_side_are_decided_as_each_one_alone(
    trigger: Trigger, merging: bool, story: list[tuple[Any, ...]]
) -> None:
    together = Panes(trigger, *ENDS, merging=merging)
    alone = [Panes(trigger, end, merging=merging) for end in ENDS]
    for event in story:
        _play(together, event, [0, 1, 2])
        for index, pane in enumerate(alone):
            _play(pane, event, [index])
        assert together.due == [pane.due[0] for pane in alone]
        assert together.finished == [pane.finished[0] for pane in alone]
        assert together.need == [pane.need[0] for pane in alone]


@given(triggers, events, events)
def test_merges_side_by_side_are_those_of_each_group_alone(
    trigger: Trigger, before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]
) -> None:
    together = Panes(trigger, *ENDS, merging=True)
    pair = Panes(trigger, *ENDS[:2], merging=True)
    single = Panes(trigger, ENDS[2], merging=True)
    for event in before:
        _play(together, event, [0, 1, 2])
        _play(pair, event, [0, 1])
        _play(single, event, [2])
    together.merge(0, 0, 1, ends=MERGED)
    pair.merge(0, 0, ends=MERGED[:1])
    single.merge(0, ends=MERGED[1:])
    for event in (("look", 0), *after):
        for panes, chosen in ((together, [0, 1]), (pair, [0]), (single, [1])):
            if event[0] != "look":
                _play(panes, event, chosen)
        assert together.due == pair.due + single.due
        assert together.finished == pair.finished + single.finished


@given(triggers, st.booleans(), events)
def test_no_step_changes_the_state_it_was_given(
    trigger: Trigger, merging: bool, story: list[tuple[Any, ...]]
) -> None:
    panes = Panes(trigger, *ENDS, merging=merging)
    for event in story:
        given_state = panes.state
        copied = {name: column.copy() for name, column in given_state.items()}
        _play(panes, event, [0, 1, 2])
        assert given_state.keys() == copied.keys()
        assert all(np.array_equal(given_state[name], copied[name]) for name in copied)


@given(triggers, st.booleans(), events)
def test_the_state_has_the_columns_that_are_promised(
    trigger: Trigger, merging: bool, story: list[tuple[Any, ...]]
) -> None:
    panes = Panes(trigger, *ENDS, merging=merging)
    for event in story:
        _play(panes, event, [0, 1, 2])
    for _ in range(2):
        kinds = {name: column.dtype for name, column in panes.state.items()}
        assert kinds == dict(panes.machine.columns)
        assert all(name.startswith("_t") for name in kinds)
        panes.merge(*range(len(panes.ends)), ends=tuple(panes.ends.tolist()))


@given(counting, st.booleans(), st.integers(1, 30))
def test_rounds_of_as_many_rows_as_are_needed_fire_like_single_rows(
    trigger: Trigger, merging: bool, number: int
) -> None:
    by_one = Panes(trigger, merging=merging)
    singly = [row for row in range(1, number + 1) if by_one.take(1).fire()[0]]
    by_round = Panes(trigger, merging=merging)
    rounds: list[int] = []
    taken = 0
    while taken < number:
        size = min(by_round.need[0], number - taken)
        taken += size
        if by_round.take(size).fire()[0]:
            rounds.append(taken)
    assert rounds == singly


def test_leaves_are_numbered_in_the_order_they_are_written() -> None:
    machine = Machine(AnyOf((AfterRows(1), Repeat(AfterWatermark()))), merging=False)
    assert list(machine.columns) == ["_t1_count", "_t1_done", "_t3_done"]


def test_what_is_no_trigger_is_refused() -> None:
    with pytest.raises(AssertionError, match="no trigger"):
        Machine("soon", merging=False)  # type: ignore[arg-type]
