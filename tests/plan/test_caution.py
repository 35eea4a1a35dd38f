from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model.dedup import Dedup
from penstock.model.refine import FOREVER, Refinement
from penstock.model.relation import Relation
from penstock.model.trigger import (
    EACH_ROW,
    AfterRows,
    AfterWatermark,
    Never,
    Trigger,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.window import Global
from penstock.plan.caution import cautions
from tests.plan.programs import MINUTE, a_stream, count_by, program, the_shop

COUNTED = count_by(a_stream(), "user", site="a.py:1")


@pytest.mark.parametrize(
    "trigger", [None, AfterWatermark(), WhenWatermark(), WhenClosed(), Never()]
)
def test_one_window_for_all_time_with_no_early_trigger_never_fires(trigger: Trigger | None) -> None:
    endless = replace(COUNTED, window=Global(), trigger=trigger)
    assert "aggregate by user (a.py:1) gives nothing out" in cautions(program(endless))[0]


@pytest.mark.parametrize("trigger", [EACH_ROW, WhenClosed(early=EACH_ROW)])
def test_one_that_fires_early_is_no_danger(trigger: Trigger) -> None:
    assert cautions(program(replace(COUNTED, window=Global(), trigger=trigger))) == ()


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        (replace(COUNTED, refinement=Refinement(keep_late=FOREVER)), "keeps every window"),
        (Dedup(a_stream(), ("user",)), "remembers every key"),
        (replace(COUNTED, trigger=AfterRows(3)), "ends its trigger"),
    ],
)
def test_what_grows_or_ends_unseen_is_said(relation: Relation, words: str) -> None:
    (caution,) = cautions(program(relation))
    assert words in caution


def test_a_program_without_dangers_has_no_cautions() -> None:
    assert cautions(program(Dedup(a_stream(), ("user",), MINUTE), COUNTED)) == ()
    assert cautions(the_shop()) == ()
