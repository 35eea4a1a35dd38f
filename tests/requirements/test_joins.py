"""Joins, seen from outside: who meets whom, when that is known, and what is let go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.plan.planner import plan
from penstock.schema.arrow import to_arrow
from penstock.schema.schema import Schema
from penstock.testing.driver import TestDriver
from tests.requirements.homes import stored

SIDE = {"key": "string", "value": "string", "at": "int64"}
PAGEVIEW = {"viewtime": "int64", "userid": "string", "pageid": "string"}
USER = {"registertime": "int64", "userid": "string", "regionid": "string", "gender": "string"}


def two_streams(**how: Any) -> ps.App:  # noqa: ANN401
    app = ps.App("meet")
    left, right = (app.stream(name, schema=SIDE, event_time="at") for name in ("a", "b"))
    left.join(right, on="key", **how).to("pairs")
    return app


def push(driver: TestDriver, topic: str, *rows: tuple[str, str, int]) -> None:
    names = ("key", "value", "at")
    driver.push(topic, [dict(zip(names, row, strict=True)) for row in rows])


def pairs(driver: TestDriver) -> list[tuple[str | None, str | None]]:
    return sorted(
        ((row["value"], row["value_right"]) for row in driver.rows("pairs")),
        key=str,
    )


def test_a_stream_is_enriched_from_a_table_that_does_not_change(tmp_path: Path) -> None:
    """D15."""
    file = tmp_path / "customers.csv"
    file.write_text("id,name\n1,Ann\n2,Bob\n")
    app = ps.App("orders")
    orders = app.stream("orders", schema={"customer": "int64", "euros": "int64"})
    customers = ps.static(file, schema={"id": "int64", "name": "string"})
    orders.enrich(customers, on={"customer": "id"}, how="left").to("named")
    driver = app.test()
    driver.push("orders", [{"customer": 2, "euros": 5}, {"customer": 9, "euros": 7}])
    assert [row["name"] for row in driver.rows("named")] == ["Bob", None]


def test_pairs_lie_in_one_common_window() -> None:
    """D16."""
    driver = two_streams(window=ps.tumbling("10s")).test(watermarks="manual")
    push(driver, "a", ("k", "a1", 1_000), ("k", "a2", 9_000), ("k", "a3", 11_000))
    push(driver, "b", ("k", "b1", 8_000), ("k", "b2", 19_000), ("x", "b3", 1_000))
    driver.finish()
    assert pairs(driver) == [("a1", "b1"), ("a2", "b1"), ("a3", "b2")]


def test_each_side_has_a_window_of_its_own_length() -> None:
    """D17: rows of A wait 10 seconds for B, rows of B 5 seconds for A."""
    driver = two_streams(within=("5s", "10s")).test(watermarks="manual")
    push(driver, "a", ("k", "a", 20_000))
    push(driver, "b", *(("k", f"b{at}", at * 1000) for at in (14, 15, 20, 30, 31)))
    assert pairs(driver) == [("a", "b15"), ("a", "b20"), ("a", "b30")]


def test_rows_meet_by_the_time_they_happened_though_they_arrive_apart() -> None:
    """D18."""
    driver = two_streams(within="1s").test(watermarks="manual")
    push(driver, "a", ("k", "a1", 1_000))
    push(driver, "a", ("k", "a2", 60_000))
    push(driver, "b", ("k", "b2", 60_500))
    push(driver, "b", ("k", "b1", 1_500))
    assert pairs(driver) == [("a1", "b1"), ("a2", "b2")]


def test_a_join_without_an_end_is_refused_and_one_with_an_end_lets_rows_go() -> None:
    """D19."""
    with pytest.raises(ps.PenstockError, match="JOIN_UNBOUNDED"):
        two_streams()
    app = two_streams(within="5s")
    driver = app.test(watermarks="manual")
    for second in range(0, 1000, 10):
        push(driver, "a", ("k", "a", second * 1000))
        push(driver, "b", ("k", "b", second * 1000))
        driver.advance_watermark(second * 1000)
    held = driver.state("join-1")
    assert sum(table.height for table in held.values()) <= 4
    assert "they leave after 5s" in app.explain("state")


def test_a_match_comes_out_before_the_streams_end() -> None:
    """D20."""
    driver = two_streams(within="5s").test(watermarks="manual")
    push(driver, "a", ("k", "a", 1_000))
    assert pairs(driver) == []
    push(driver, "b", ("k", "b", 2_000))
    assert pairs(driver) == [("a", "b")]


def test_an_unknown_user_has_no_gender_and_no_region() -> None:
    """D21."""
    app = ps.App("pageviews")
    views = app.stream("pageviews", schema=PAGEVIEW, event_time="viewtime")
    users = app.table("users", key="userid", schema=USER)
    enriched = views.join(users, on="userid", how="left")
    enriched.select("userid", "pageid", "regionid", "gender").to("pageviews_enriched")
    driver = app.test()
    known = {"registertime": 1, "userid": "User_1", "regionid": "Region_9", "gender": "FEMALE"}
    driver.push("users", known)
    for user in ("User_1", "User_2"):
        driver.push("pageviews", {"viewtime": 5, "userid": user, "pageid": "Page_1"})
    assert driver.rows("pageviews_enriched") == [
        {"userid": "User_1", "pageid": "Page_1", "regionid": "Region_9", "gender": "FEMALE"},
        {"userid": "User_2", "pageid": "Page_1", "regionid": None, "gender": None},
    ]


def test_a_restart_keeps_the_rows_that_wait_for_partners(tmp_path: Path) -> None:
    """D22."""
    program = two_streams(window=ps.tumbling("10s")).plan()
    with open_log(tmp_path / "home") as log:
        schema: Schema = plan(program).scans[0].stream.columns
        for topic in ("a", "b"):
            log.create_topic(topic, schema=to_arrow(schema))

        def run() -> None:
            InlineRun(
                plan(program),
                home=tmp_path / "home",
                checkpoint=tmp_path / "job",
                options=InlineOptions(until="caught up"),
            ).run()

        with ps.Producer(log) as producer:
            producer.send("a", {"key": "k", "value": "a", "at": 1_000})
        run()
        with ps.Producer(log) as producer:
            producer.send("b", {"key": "k", "value": "b", "at": 2_000})
        run()
    rows = stored(tmp_path / "home", "pairs")
    assert [(row["value"], row["value_right"]) for row in rows] == [("a", "b")]
