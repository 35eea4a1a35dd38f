from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import ModelError
from penstock.model.expr import Column
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.watermark import BoundedDisorder, Perfect, Punctuated

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
HERE = Path(__file__).name


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (ps.when_closed(), WhenClosed()),
        (
            ps.when_closed(early=ps.every("1s"), late=ps.each_row()),
            WhenClosed(AfterDelay(NOW, SECOND), AfterRows(1)),
        ),
        (ps.when_complete(), WhenWatermark()),
        (ps.at_watermark(), AfterWatermark()),
        (ps.every("1s"), Repeat(AfterDelay(NOW, SECOND))),
        (ps.every("1s", time="event"), Repeat(AfterEventTime(SECOND))),
        (ps.after("1s"), Repeat(AfterDelay(SECOND))),
        (ps.after_delay("1s"), AfterDelay(SECOND)),
        (ps.aligned("1s", origin="500ms"), Repeat(AfterDelay(NOW, SECOND, SECOND / 2))),
        (
            ps.aligned("1s", origin=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
            Repeat(AfterDelay(NOW, SECOND, SECOND)),
        ),
        (ps.every_rows(3), Repeat(AfterRows(3))),
        (ps.after_rows(3), AfterRows(3)),
        (ps.each_row(), EACH_ROW),
        (ps.each_batch(), Repeat(AfterRows(1, exact=False))),
        (ps.when_row(ps.col("end")), Repeat(AfterRow(Column("end")))),
        (ps.when_row("end"), Repeat(AfterRow(Column("end")))),
        (ps.never(), Never()),
        (ps.any_of(ps.never(), ps.each_row()), AnyOf((Never(), EACH_ROW))),
        (ps.all_of(ps.never(), ps.each_row()), AllOf((Never(), EACH_ROW))),
        (ps.in_sequence(ps.after_rows(2), ps.each_row()), Sequence((AfterRows(2), EACH_ROW))),
        (ps.repeat(ps.after_rows(2)), Repeat(AfterRows(2))),
        (ps.repeat(ps.every_rows(2)), Repeat(AfterRows(2))),
        (ps.until(ps.each_row(), ps.at_watermark()), Until(EACH_ROW, AfterWatermark())),
        (ps.once(ps.every_rows(2)), AfterRows(2)),
        (ps.once(ps.never()), Never()),
        (ps.continued(ps.every_rows(5)), EACH_ROW),
    ],
)
def test_a_trigger_is_said_as_a_sentence(trigger: Trigger, expected: Trigger) -> None:
    assert trigger == expected


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: ps.every("0s"), "TRIGGER_PERIOD"),
        (lambda: ps.aligned("-1s"), "TRIGGER_PERIOD"),
        (lambda: ps.every("soon"), "DURATION_FORMAT"),
        (lambda: ps.every_rows(0), "TRIGGER_COUNT"),
        (ps.any_of, "TRIGGER_EMPTY"),
        (ps.all_of, "TRIGGER_EMPTY"),
        (ps.in_sequence, "TRIGGER_EMPTY"),
    ],
)
def test_what_is_no_trigger_is_refused_with_its_line(
    make: Callable[[], Trigger], code: str
) -> None:
    with pytest.raises(ModelError, match=code) as caught:
        make()
    assert f"({HERE}:" in caught.value.fact


def test_refinements_are_said_with_their_settings() -> None:
    assert ps.discarding() == Refinement("discarding")
    assert ps.accumulating(keep_late="1s") == Refinement("accumulating", SECOND)
    said = ps.retracting(keep_late=None, empty_on_time=False, empty_final=True, stamp="latest")
    assert said == Refinement("retracting", empty_on_time=False, empty_final=True, stamp="latest")


def test_watermarks_are_said_with_their_settings() -> None:
    assert ps.bounded("1s") == BoundedDisorder(SECOND)
    assert ps.bounded("1s", idle=None, max_ahead="1s") == BoundedDisorder(SECOND, None, SECOND)
    assert ps.perfect() == Perfect()
    assert ps.punctuated("mark") == Punctuated("mark")
    assert ps.punctuated("mark", control="end") == Punctuated("mark", Column("end"))
    assert ps.punctuated("mark", control=ps.col("end"), idle=None) == Punctuated(
        "mark", Column("end"), None
    )
