from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import penstock as ps
from penstock.front.sql.emission_setting import SETTING
from penstock.front.sql.statement import Started
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column, Literal, Resolved
from penstock.model.plan import Plan
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.model.trigger import AfterRow, Always, Repeat, Trigger
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Buffered, ByPunctuation, Session, Window
from penstock.schema.types import BOOLEAN, INT32
from tests.front.sql.script import STREAM, outcomes, refusal

MINUTE = "WINDOW TUMBLING (SIZE 1 MINUTE)"
BIG = Resolved("gt", (Column("V"), Literal(5)), BOOLEAN)
LONG = Resolved("multiply", (Column("V"), Literal(1000)), INT32)


def _aggregate(plan: Plan) -> Aggregate:
    (found,) = [step for step in plan.walk() if isinstance(step, Aggregate)]
    return found


def _sql(emit: str, window: str = MINUTE, kind: str = "STREAM") -> Aggregate:
    text = f"CREATE {kind} o AS SELECT k, COUNT(*) AS n FROM s {window} GROUP BY k {emit};"
    last = outcomes(f"{STREAM} {text}")[-1]
    assert isinstance(last, Started)
    return _aggregate(last.plan)


def _dsl(window: Window | None, trigger: Trigger | None, refinement: Refinement) -> Aggregate:
    app = ps.App("same")
    stream = app.stream("s", schema={"K": str, "V": int, "at": int}, event_time="at")
    grouped = stream.group_by("K")
    if window is not None:
        grouped = grouped.window(window)
    if trigger is not None:
        grouped = grouped.trigger(trigger)
    grouped.refine(refinement).agg(n=ps.count()).to("o")
    return _aggregate(app.plan())


def _same(sql: Aggregate, dsl: Aggregate) -> bool:
    told = [(it.window, it.when, it.refinement) for it in (sql, dsl)]
    return told[0] == told[1]


TRIGGERS = [
    ("WHEN CLOSED", ps.when_closed()),
    ("WHEN COMPLETE", ps.when_complete()),
    ("AFTER WATERMARK", ps.at_watermark()),
    ("EACH ROW", ps.each_row()),
    ("EACH BATCH", ps.each_batch()),
    ("EVERY 3 ROWS", ps.every_rows(3)),
    ("AFTER 3 ROWS", ps.after_rows(3)),
    ("EVERY 10 SECONDS", ps.every("10s")),
    ("EVERY 10 SECONDS OFFSET 3 SECONDS", ps.aligned("10s", origin="3s")),
    ("EVERY 10 SECONDS OF EVENT TIME", ps.every("10s", time="event")),
    ("AFTER 10 SECONDS", ps.after_delay("10s")),
    ("REPEAT (AFTER 10 SECONDS)", ps.after("10s")),
    ("REPEAT (EVERY 3 ROWS)", ps.repeat(ps.every_rows(3))),
    ("NEVER", ps.never()),
    ("ALWAYS", Always()),
    ("EACH ROW WHERE v > 5", Repeat(AfterRow(BIG))),
    ("AFTER ROW WHERE v > 5", AfterRow(BIG)),
    (
        "ANY OF (AFTER WATERMARK, AFTER 3 ROWS)",
        ps.any_of(ps.at_watermark(), ps.after_rows(3)),
    ),
    (
        "ALL OF (AFTER WATERMARK, AFTER 3 ROWS)",
        ps.all_of(ps.at_watermark(), ps.after_rows(3)),
    ),
    (
        "SEQUENCE (AFTER 3 ROWS, AFTER WATERMARK)",
        ps.in_sequence(ps.after_rows(3), ps.at_watermark()),
    ),
    (
        "EVERY 3 ROWS UNTIL AFTER WATERMARK",
        ps.until(ps.every_rows(3), ps.at_watermark()),
    ),
    ("EARLY EVERY 10 SECONDS", ps.when_closed(early=ps.every("10s"))),
    (
        "WHEN CLOSED, EARLY EVERY 10 SECONDS, LATE EACH ROW",
        ps.when_closed(early=ps.every("10s"), late=ps.each_row()),
    ),
]


@pytest.mark.parametrize(("words", "trigger"), TRIGGERS, ids=[words for words, _ in TRIGGERS])
def test_a_trigger_is_that_of_the_python_words(words: str, trigger: Trigger) -> None:
    wanted = _dsl(ps.tumbling("1 minute"), None, ps.accumulating())
    assert _same(_sql(f"EMIT {words}"), replace(wanted, trigger=trigger))


@pytest.mark.parametrize(
    ("words", "refinement"),
    [
        ("DISCARDING", ps.discarding()),
        ("ACCUMULATING", ps.accumulating()),
        ("RETRACTING", ps.retracting()),
        ("RETRACTING KEEP LATE 1 HOUR", ps.retracting(keep_late="1 hour")),
        ("STAMP EARLIEST", ps.accumulating(stamp="earliest")),
        ("DISCARDING STAMP LATEST, EMPTY FINAL", ps.discarding(stamp="latest", empty_final=True)),
        ("NO EMPTY ON TIME", ps.accumulating(empty_on_time=False)),
    ],
)
def test_a_refinement_is_that_of_the_python_words(words: str, refinement: Refinement) -> None:
    assert _same(_sql(f"EMIT {words}"), _dsl(ps.tumbling("1 minute"), None, refinement))


WINDOWS = [
    ("TUMBLING (SIZE 1 MINUTE, OFFSET 5 SECONDS)", ps.tumbling("1 minute", offset="5s")),
    ("TUMBLING (SIZE 1 MINUTE, BY PROCESSING TIME)", ps.tumbling("1 minute", time="processing")),
    ("TUMBLING (SIZE 1 MINUTE, BY INGESTION TIME)", ps.tumbling("1 minute", time="ingestion")),
    ("HOPPING (SIZE 1 MINUTE, ADVANCE BY 10 SECONDS)", ps.hopping("1 minute", "10s")),
    ("SLIDING (SIZE 1 MINUTE)", ps.sliding("1 minute")),
    ("SESSION (1 MINUTE, MAX SIZE 1 HOUR)", ps.session("1 minute", max_size="1 hour")),
    ("SESSION (GAP v * 1000)", Session(LONG)),
    ("GLOBAL", ps.global_window()),
    ("GLOBAL (BY PROCESSING TIME)", ps.global_window(time="processing")),
    ("TUMBLING (SIZE 3 ROWS)", ps.count_window(3)),
    ("SLIDING (SIZE 3 ROWS)", ps.buffered_window("sliding", evict=ps.by_count(3))),
    ("SLIDING (SIZE 3 ROWS, ADVANCE BY 2 ROWS)", ps.count_window(3, 2)),
    ("HOPPING (SIZE 3 ROWS, ADVANCE BY 2 ROWS)", ps.count_window(3, 2)),
    (
        "SLIDING (SIZE 3 ROWS, ADVANCE BY 1 ROWS, FULL ONLY)",
        ps.count_window(3, 1, partial=False),
    ),
    ("TUMBLING (SIZE 10 OF v)", ps.delta_window("V", 10)),
    ("SLIDING (SIZE 10 OF v, ADVANCE BY 2.5 OF v)", ps.delta_window("V", 10, 2.5)),
    ("TUMBLING (UNTIL v > 5)", Buffered("tumbling", ByPunctuation(BIG))),
    (
        "SLIDING (SIZE 5 MINUTES, ADVANCE BY 10 ROWS)",
        ps.buffered_window("sliding", evict=ps.by_time("5m"), fire=ps.by_count(10)),
    ),
]


@pytest.mark.parametrize(("words", "window"), WINDOWS, ids=[words for words, _ in WINDOWS])
def test_a_window_is_that_of_the_python_words(words: str, window: Window) -> None:
    rows = words.startswith(("TUMBLING (SIZE 3", "TUMBLING (U", "TUMBLING (SIZE 10"))
    emit = "" if rows or "ROWS" in words or " OF v" in words else "EMIT ACCUMULATING"
    made = _sql(emit, f"WINDOW {words}")
    assert made.window == window
    assert _same(made, _dsl(window, None, ps.accumulating()))


def test_the_grace_of_a_window_is_how_long_late_rows_are_waited_for() -> None:
    window = "WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 1 HOUR)"
    words = "EMIT RETRACTING WHEN CLOSED, EARLY EVERY 10 SECONDS, LATE EACH ROW"
    wanted = _dsl(
        ps.tumbling("1 minute"),
        ps.when_closed(early=ps.every("10s"), late=ps.each_row()),
        ps.retracting(keep_late="1 hour"),
    )
    assert _same(_sql(words, window, "TABLE"), wanted)


@pytest.mark.parametrize(
    ("setting", "trigger"), [("record", ps.each_row()), ("batch", ps.each_batch())]
)
def test_a_setting_says_how_often_results_come(setting: str, trigger: Trigger) -> None:
    said = f"SET '{SETTING}' = '{setting}'; {STREAM}"
    for window in ("", MINUTE):
        text = f"CREATE TABLE o AS SELECT k, COUNT(*) AS n FROM s {window} GROUP BY k;"
        last = outcomes(f"{said} {text}")[-1]
        assert isinstance(last, Started)
        assert _aggregate(last.plan).trigger == trigger


def test_a_source_says_how_long_rows_and_partitions_are_waited_for() -> None:
    said = STREAM.replace("'JSON')", "'JSON', LATENESS='10 SECONDS', IDLE='1 MINUTE')")
    made = outcomes(f"{said} CREATE STREAM o AS SELECT * FROM s;")[-1]
    assert isinstance(made, Started)
    (stream,) = [step for step in made.plan.walk() if isinstance(step, Stream)]
    wanted = BoundedDisorder(timedelta(seconds=10), timedelta(minutes=1), max_ahead=None)
    assert stream.watermark == wanted
    wrong = said.replace("10 SECONDS", "10 apples")
    assert refusal(wrong).code == "SQL_PROPERTY"
