from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from playwright.sync_api import Page, expect

from penstock.clock import ManualClock
from penstock.log.embedded.append_times import append_times
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.model.progress import Instant
from penstock.serve.opened import opened_platform
from penstock.serve.pages.pane_reader import PaneReader, windowed_topics, writer_of
from penstock.serve.pages.panes import Told, Watermarks, panes_of, told_of
from penstock.serve.pages.window_chart import window_options
from penstock.sql.session import SqlSession
from tests.pages.conftest import Opened
from tests.pages.work_home import Work

MARKS = Watermarks([Instant(10, 5), Instant(30, 25), Instant(20, 15)])


def told(given_at: int, **more: object) -> Told:
    return Told("a", 0, 20, given_at, (("n", 1),), **more)  # type: ignore[arg-type]


def test_a_pane_is_early_on_time_or_late_by_the_watermark_of_then() -> None:
    given = [told(35), told(12), told(5), told(31), told(32, taken_back=True)]
    assert [(pane.given_at, pane.timing) for pane in panes_of(given, MARKS)] == [
        (5, "given"), (12, "early"), (31, "on-time"), (32, "retracted"), (35, "late"),
    ]  # fmt: skip


def test_what_a_record_says_of_its_pane_counts_before_the_watermark() -> None:
    (pane,) = panes_of([told(12, timing="late")], MARKS)
    assert pane.timing == "late"
    row = {"window_start": 5, "window_end": 9, "n": 2, "_weight": -1, "pane_timing": "early"}
    found = told_of(row, 7, "k")
    assert found is not None
    assert (found.taken_back, found.timing, found.values) == (True, "early", (("n", 2),))
    assert told_of({"n": 2}, 7, "k") is None


def test_the_time_of_an_append_is_known_of_every_record() -> None:
    clock = ManualClock(100)
    with EmbeddedLog(MemoryStorage(), clock) as log:
        log.create_topic("t", schema=pa.schema([("n", pa.int64())]))
        log.append("t", 0, pa.table({"n": [1, 2]}))
        clock.advance(50)
        log.append("t", 0, pa.table({"n": [3]}))
        times = append_times(log, "t", 0, 0, 3)
    assert [times.at(offset) for offset in range(3)] == [100, 100, 150]


def test_a_windowed_table_of_sql_is_read_by_the_bounds_behind_its_keys(tmp_path: Path) -> None:
    with opened_platform(tmp_path) as platform, SqlSession(tmp_path, here=True) as session:
        for statement in (
            "CREATE STREAM views (page VARCHAR KEY, ms BIGINT) WITH (kafka_topic='views',"
            " value_format='JSON', partitions=1);",
            "CREATE TABLE by_minute AS SELECT page, COUNT(*) AS n FROM views"
            " WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY page;",
            "INSERT INTO views (ROWTIME, page, ms) VALUES (120500, '/docs', 1);",
            "INSERT INTO views (ROWTIME, page, ms) VALUES (121500, '/docs', 2);",
        ):
            list(session.run(statement))
        (found,) = windowed_topics(platform)
        assert (found.name, writer_of(platform, found)[:4]) == ("BY_MINUTE", "CTAS")
        panes, marks = PaneReader(platform.log, found).look([])
    assert [(p.key, p.start, p.end, p.values, p.timing) for p in panes] == [
        ("/docs", 120_000, 180_000, (("N", 1),), "given"),
        ("/docs", 120_000, 180_000, (("N", 2),), "given"),
    ]
    assert marks.curve == []


def test_names_in_results_cannot_write_the_page() -> None:
    evil = Told("<img src=x>", 0, 20, 12, (("{b}", "<script>"),))
    text = str(window_options(panes_of([evil], MARKS), MARKS))
    assert "<img" not in text
    assert "<script>" not in text
    assert "{b}" not in text


def test_panes_are_drawn_as_they_fire(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/windows?topic=views_by_region&key=North", url=work_server)
    note = page.locator("[data-note]")
    expect(note).to_contain_text("written by views.")
    for word in ("Early", "On time", "Late 1", "Retracted 1", "Given 0"):
        expect(page.locator(".ps-legend", has_text=word).first).to_be_visible()
    expect(page.locator(".ps-legend", has_text="On time 0")).to_have_count(0)
    picture(page, "windows-light")


def test_a_window_appears_on_a_phone_in_the_dark(
    opened: Opened, work_server: str, work: Work, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/windows", url=work_server, phone=True, dark=True)
    expect(page.locator("[data-note]")).to_contain_text("panes")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Path(work.home).exists()
    picture(page, "windows-phone-dark")
