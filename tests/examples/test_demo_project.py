"""The project of the demo without Spark: its program, its statements and its dashboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.demo_consumers import FailingPages, LiveCount, make_tables
from examples.demo_views import STATUS, USERS, VIEWS, Visitors
from examples.pageviews.views_by_region import app
from penstock import Producer, open_log
from penstock.inline.versions import InlineEngine
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.submit import job_program
from penstock.log.port import Log
from penstock.log.record import Record
from penstock.project.dashboard_files import dashboard_files
from penstock.project.project import Project
from penstock.serve.opened import opened_platform
from penstock.sql.running import catch_up
from penstock.sql.session import SqlSession
from penstock.watch.ledger import make_topic

PROJECT = Path(__file__).resolve().parents[2] / "examples" / "pageviews"
NOON = 1_793_966_400_000


def view(second: int, user: str = "User_1") -> bytes:
    return f"{NOON + 1000 * second},{user},Page_1".encode()


def test_views_of_a_region_come_early_on_time_late_and_too_late() -> None:
    driver = app.test(clock=NOON)
    driver.push("users", [b'{"userid": "User_1", "regionid": "Region_3"}'], at=NOON)
    driver.push(VIEWS, [view(1), view(2), b"damaged", view(3, "User_9")], at=NOON + 3_000)
    driver.advance_clock(by="5s")
    driver.push(VIEWS, [view(80)], at=NOON + 80_000)
    driver.push(VIEWS, [view(30)], at=NOON + 81_000)
    driver.push(VIEWS, [view(800)], at=NOON + 800_000)
    driver.push(VIEWS, [view(4)], at=NOON + 801_000)
    seen = [
        (row["_pane_timing"], row["views"] * row["_weight"])
        for row in driver.changes("views_by_region")
        if row["regionid"] == "Region_3" and row["window_start"].minute == 0
    ]
    assert seen == [("early", 2), ("early", -2), ("on-time", 2), ("on-time", -2), ("late", 3)]
    assert len(driver.late("views_by_region")) == 1
    assert [letter["raw"] for letter in driver.dead_letters("views_by_region")] == [b"damaged"]


def test_a_page_that_fails_is_counted_for_twenty_seconds() -> None:
    work, state = FailingPages(), dict[str, object]()
    assert work.do([record(0, "500"), record(1, "500")], state)
    (table,) = work.do([record(2, "200"), record(30, "200")], state).values()
    assert table.select(["pageid", "failures"]).to_pylist() == [{"pageid": "P", "failures": 0}]
    assert work.do([record(31, "200")], state) == {}


def test_views_are_counted_and_damaged_records_are_not() -> None:
    state = dict[str, int]()
    LiveCount().do([record(0, "200"), record(1, "200", b"1,2")], state)
    assert state == {"P": 1}


def record(second: int, status: str, value: bytes = b"1,User_1,P") -> Record:
    headers = ((STATUS, status.encode()),)
    return Record(VIEWS, 0, second, NOON + 1000 * second, b"P", value, headers)


def fill(log: Log) -> None:
    log.create_topic(VIEWS, partitions=2)
    log.create_topic(USERS)
    make_tables(log)
    make_topic(log, "alerts")
    visitors = Visitors(seed=1)
    with Producer(log) as producer:
        for user in visitors.users(at=NOON):
            producer.send(USERS, user.value, key=user.key, timestamp=NOON)
        for second in range(0, 120, 2):
            for sent in visitors.views(5, at=NOON + 1000 * second):
                producer.send(VIEWS, sent.value, key=sent.key, timestamp=NOON + 1000 * second)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which the project was applied and has run, without Spark."""
    place = tmp_path / "home"
    with open_log(place) as log:
        fill(log)
    engine = InlineEngine(place)
    with Project(PROJECT, place, engine=engine) as project:
        told = list(project.apply(project.plan()))
    assert 'job "views_by_region" is created' in told
    with SqlSession(place) as session:
        catch_up(place, list(session.definitions().runnable))
    definition = definition_store(place).get("views_by_region")
    engine.run(job_program(place, definition), checkpoint_of(place, definition))
    return place


def test_every_panel_of_the_dashboard_is_answered(home: Path) -> None:
    dashboard = dashboard_files(home, PROJECT).get("pageviews")
    assert {panel.kind for panel in dashboard.panels} == {"number", "bar", "line", "table"}
    with opened_platform(home) as platform:
        answers = {
            panel.title: platform.tables.query(panel.query, limit=100) for panel in dashboard.panels
        }
    by_statements = "Views by region and minute of two visitors (Spark, KSQL)"
    assert len(answers[by_statements].rows) >= 2
    visitors = next(title for title in answers if title.startswith("Which pages"))
    assert tuple(answers[visitors].columns) == ("visitor", "page", "views", "latest")
    assert answers[visitors].rows[0][0] == "User_1"
