from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import ModelError, SchemaError
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.top_n import TopN
from penstock.model.trigger import (
    DEFAULT,
    EACH_ROW,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AnyOf,
    Never,
    Repeat,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    Hopping,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from tests.model.programs import a_stream

COUNT = Measure("rows", "count")
MINUTE = Tumbling(timedelta(minutes=1))
SITE = "shop.py:3"


def an_aggregate(
    window: Window | None = MINUTE, trigger: Trigger | None = None, *, changelog: bool = False
) -> Aggregate:
    source = a_stream(changelog=changelog)
    return Aggregate(source, ("user",), (COUNT,), window, trigger, site=SITE)


def test_a_windowed_result_has_keys_bounds_measures_and_panes() -> None:
    step = Aggregate(a_stream(), ("user",), (COUNT,), MINUTE, panes=True)
    assert step.schema.names == (
        *("user", "window_start", "window_end", "rows"),
        *("pane_index", "pane_timing", "pane_first", "pane_last"),
    )


def test_a_running_result_has_no_bounds() -> None:
    assert an_aggregate(window=None).schema.names == ("user", "rows")


def test_the_default_is_on_time_for_a_window_and_with_each_row_without() -> None:
    assert an_aggregate().when == DEFAULT
    assert an_aggregate(window=None).when == EACH_ROW
    assert an_aggregate(trigger=Never()).when == Never()


@pytest.mark.parametrize(
    ("mode", "retracts"), [("discarding", False), ("accumulating", False), ("retracting", True)]
)
def test_only_a_retracting_result_takes_rows_back(mode: str, retracts: bool) -> None:
    how = Refinement(mode)  # type: ignore[arg-type]
    assert Aggregate(a_stream(), (), (COUNT,), refinement=how).retracts is retracts


def test_a_misspelt_key_is_named_and_corrected() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING") as caught:
        Aggregate(a_stream(), ("usr",), (COUNT,), site=SITE)
    assert caught.value.fact == 'group key "usr" does not exist (shop.py:3)'


def test_a_result_named_like_a_key_is_refused() -> None:
    with pytest.raises(SchemaError, match="COLUMN_TWICE"):
        Aggregate(a_stream(), ("user",), (Measure("user", "count"),))


@pytest.mark.parametrize(
    "trigger",
    [
        WhenClosed(),
        AfterWatermark(),
        WhenWatermark(),
        AfterEventTime(timedelta(seconds=1)),
        Repeat(AnyOf((AfterRows(2), AfterWatermark()))),
        Until(EACH_ROW, AfterWatermark()),
    ],
)
def test_a_running_result_cannot_wait_for_an_end(trigger: Trigger) -> None:
    with pytest.raises(ModelError, match="TRIGGER_WINDOW") as caught:
        an_aggregate(window=None, trigger=trigger)
    assert "(shop.py:3)" in caught.value.fact


@pytest.mark.parametrize(
    "window", [Sliding(timedelta(seconds=1)), Buffered("tumbling", ByCount(3))]
)
def test_a_window_that_decides_itself_takes_no_trigger(window: Window) -> None:
    assert an_aggregate(window).when == DEFAULT
    with pytest.raises(ModelError, match="TRIGGER_WINDOW"):
        an_aggregate(window, EACH_ROW)


def test_a_trigger_by_rows_has_a_condition() -> None:
    assert an_aggregate(trigger=AfterRow(Column("ok"))).when
    late = WhenClosed(late=AfterRow(Column("n")))
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        an_aggregate(trigger=late)


def test_the_gap_of_a_session_is_a_number_of_milliseconds() -> None:
    assert an_aggregate(Session(Column("n"))).schema
    with pytest.raises(ModelError, match="WINDOW_GAP"):
        an_aggregate(Session(Column("x")))


def test_the_policies_of_a_buffer_fit_its_rows() -> None:
    assert an_aggregate(Buffered("sliding", ByDelta("at", 5), ByDelta("n", 1))).schema
    with pytest.raises(ModelError, match="WINDOW_DELTA"):
        an_aggregate(Buffered("tumbling", ByDelta("user", 5)))
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        an_aggregate(Buffered("tumbling", ByPunctuation(Column("n"))))


def test_a_buffer_cannot_take_rows_back() -> None:
    with pytest.raises(ModelError, match="WINDOW_CHANGELOG"):
        an_aggregate(Buffered("tumbling", ByCount(3)), changelog=True)


def test_a_tumbling_buffer_has_no_policy_to_fire() -> None:
    with pytest.raises(ModelError, match="WINDOW_POLICY"):
        Buffered("tumbling", ByCount(3), ByCount(1))


def test_hopping_windows_lie_apart_only_where_gaps_are_allowed() -> None:
    with pytest.raises(ModelError, match="WINDOW_SLIDE"):
        Hopping(timedelta(1), timedelta(2), gaps=False)
    assert Hopping(timedelta(1), timedelta(2)).gaps


def test_sizes_are_above_zero() -> None:
    nothing = timedelta(0)
    for make in (Tumbling, Sliding, Session):
        with pytest.raises(ModelError, match="WINDOW_SIZE"):
            make(nothing)
    with pytest.raises(ModelError, match="WINDOW_SIZE"):
        Hopping(timedelta(1), nothing)
    with pytest.raises(ModelError, match="WINDOW_SIZE"):
        Session(timedelta(1), nothing)
    with pytest.raises(ModelError, match="WINDOW_SIZE"):
        ByCount(0)
    with pytest.raises(ModelError, match="WINDOW_SIZE"):
        ByDelta("n", -1)
    with pytest.raises(ModelError, match="TRIGGER_COUNT"):
        AfterRows(0)


def test_an_offset_is_smaller_than_a_period() -> None:
    with pytest.raises(ModelError, match="WINDOW_OFFSET"):
        Tumbling(timedelta(1), timedelta(1))


def test_the_best_rows_are_some_and_known_by_a_column() -> None:
    assert TopN(a_stream(), ("user",), "n", 3).retracts
    with pytest.raises(ModelError, match="TOP_N"):
        TopN(a_stream(), (), "n", 0)
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        TopN(a_stream(), (), "m", 1)


def test_dedup_knows_its_keys() -> None:
    assert Dedup(a_stream(), ("user",)).schema == a_stream().schema
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        Dedup(a_stream(), ("usr",))
