from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.expr_text import expr_text
from penstock.model.measure import Measure
from penstock.model.refine import FOREVER, Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Rekey, Restamp, Union
from penstock.model.top_n import TopN
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
from penstock.model.trigger_words import trigger_words
from penstock.model.watermark import BoundedDisorder, Perfect, Punctuated, Watermark
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Custom,
    Global,
    Hopping,
    Session,
    Sliding,
    Tumbling,
    Window,
)
from penstock.model.window_words import window_words
from penstock.model.words import measure_words, refinement_words, step_words, watermark_words
from penstock.schema.types import INT64
from tests.model.programs import a_stream

SECOND = timedelta(seconds=1)
OK = Column("ok")
POSITIVE = Call("gt", (Column("n"), Literal(0)))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Column("n"), "n"),
        (Literal(None), "null"),
        (Literal("it's"), '"it\'s"'),
        (Literal(datetime(2024, 1, 1, tzinfo=UTC)), "2024-01-01 00:00:00+00:00"),
        (Cast(Column("n"), INT64), "cast(n as int64)"),
        (Call("and", (POSITIVE, OK)), "(n > 0) and ok"),
        (Call("not", (POSITIVE,)), "not (n > 0)"),
        (Call("negate", (Column("n"),)), "-n"),
        (Call("is_null", (Column("n"),)), "n is null"),
        (Call("substring", (Column("s"), Literal(1), Literal(2))), "substring(s, 1, 2)"),
    ],
)
def test_an_expression_reads_as_one_would_write_it(expr: Expr, text: str) -> None:
    assert expr_text(expr) == text


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Tumbling(timedelta(minutes=1)), "tumbling 1m"),
        (
            Tumbling(timedelta(minutes=1), SECOND, "processing"),
            "tumbling 1m from 1s, processing time",
        ),
        (Hopping(timedelta(seconds=10), SECOND), "hopping 10s every 1s"),
        (Sliding(SECOND), "sliding 1s"),
        (Session(SECOND, timedelta(hours=1)), "session with gap 1s, at most 1h"),
        (Session(Column("n")), "session with gap n"),
        (Global(), "one window for all time"),
        (Custom("days", lambda time, _: [(time, time + 1)]), "custom days"),
        (Buffered("tumbling", ByCount(3)), "tumbling buffer of 3 rows"),
        (
            Buffered("sliding", ByTime(SECOND), ByDelta("n", 2)),
            "sliding buffer of the last 1s, fired by n within 2",
        ),
        (Buffered("tumbling", ByPunctuation(OK)), "tumbling buffer of up to ok"),
    ],
)
def test_a_window_reads_as_a_sentence(window: Window, text: str) -> None:
    assert window_words(window) == text


@pytest.mark.parametrize(
    ("trigger", "text"),
    [
        (AfterRows(3), "after 3 rows"),
        (Repeat(AfterRows(1, exact=False)), "repeatedly after a row, once a batch"),
        (AfterDelay(SECOND), "1s after the first row"),
        (AfterDelay(timedelta(0), SECOND), "at a multiple of 1s"),
        (AfterDelay(SECOND, SECOND, SECOND), "1s after the first row, at a multiple of 1s from 1s"),
        (AfterEventTime(SECOND), "at every 1s of event time"),
        (AfterRow(OK), "after a row with ok"),
        (AfterWatermark(), "once the window is complete"),
        (WhenWatermark(), "whenever the window is complete"),
        (Always(), "always"),
        (Never(), "when the window leaves"),
        (AnyOf((Never(), Always())), "any of (when the window leaves; always)"),
        (AllOf((Never(), Always())), "all of (when the window leaves; always)"),
        (Sequence((Never(), Always())), "in sequence (when the window leaves; always)"),
        (Until(Always(), Never()), "always until when the window leaves"),
        (Repeat(WhenClosed()), "repeatedly (when closed)"),
        (
            WhenClosed(AfterRows(2), AfterRows(1)),
            "when closed, early after 2 rows, late after a row",
        ),
    ],
)
def test_a_trigger_reads_as_a_sentence(trigger: Trigger, text: str) -> None:
    assert trigger_words(trigger) == text


@pytest.mark.parametrize(
    ("watermark", "text"),
    [
        (BoundedDisorder(SECOND), "1s behind the latest row, idle after 1m"),
        (Punctuated("mark", idle=None), "said by mark"),
        (Perfect(), "sorted input, idle after 1m"),
    ],
)
def test_a_watermark_reads_as_a_sentence(watermark: Watermark, text: str) -> None:
    assert watermark_words(watermark) == text


def test_a_refinement_reads_as_a_sentence() -> None:
    assert refinement_words(Refinement("discarding")) == "discarding"
    assert refinement_words(Refinement("retracting", SECOND)) == "retracting, kept 1s for late rows"
    kept = refinement_words(Refinement("retracting", FOREVER))
    assert kept == "retracting, kept for ever for late rows"


def test_a_measure_reads_as_a_sentence() -> None:
    best = Measure("best", "top_k", (Column("n"),), (("k", 3),))
    assert measure_words(best) == "best = top_k(n, k=3)"


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (a_stream(), "stream orders"),
        (
            Project(a_stream(), (Named("n", Column("n")), Named("m", POSITIVE))),
            "project n, m = n > 0",
        ),
        (Filter(a_stream(), POSITIVE), "filter n > 0"),
        (Apply(a_stream(), "words", str, "flat_map", a_stream().schema), "flat map words"),
        (Union((a_stream("a"), a_stream("b"))), "union"),
        (Rekey(a_stream(), ("user",)), "key by user"),
        (Expect(a_stream(), "positive", POSITIVE), "expect positive"),
        (Restamp(a_stream(), "mark"), "event time mark"),
        (Dedup(a_stream(), ("user",), SECOND), "dedup by user within 1s"),
        (TopN(a_stream(), ("user",), "n", 3), "top 3 greatest n by user"),
        (TopN(a_stream(), (), "n", 3, descending=False), "top 3 least n"),
        (Aggregate(a_stream(), ("user",), ()), "aggregate by user"),
        (Aggregate(a_stream(), (), ()), "aggregate all rows"),
    ],
)
def test_a_step_reads_as_a_sentence(step: Relation, text: str) -> None:
    words = step_words(step)
    assert f"{words.kind} {words.title}".strip() == text


def test_an_aggregate_answers_the_four_questions() -> None:
    step = Aggregate(a_stream(), (), (Measure("rows", "count"),), Tumbling(SECOND))
    assert step_words(step).details == (
        "what  rows = count()",
        "where tumbling 1s",
        "when  whenever the window is complete",
        "how   accumulating",
    )


def test_a_changelog_is_said_to_be_one() -> None:
    assert step_words(a_stream(changelog=True)).details[-1] == "a changelog"
