from __future__ import annotations

from datetime import UTC, datetime

import pytest

import penstock as ps
from penstock.errors import PlanError


def shop() -> ps.App:
    app = ps.App("shop")
    columns = {"at": "timestamp", "userid": str, "regionid": str}
    views = app.stream("pageviews", schema=columns, event_time="at", lateness="10s")
    (
        views.group_by("regionid")
        .window(ps.tumbling("1 minute"))
        .trigger(ps.when_closed(early=ps.every("10s"), late=ps.each_row()))
        .refine(ps.retracting(keep_late="1 hour"))
        .agg(views=ps.count(), people=ps.count_distinct("userid"))
        .to("views_by_region")
    )
    return app


def test_a_program_is_explained_stage_by_stage() -> None:
    app = shop()
    assert "aggregate by regionid" in app.explain("model")
    whole = app.explain()
    assert [
        name for name in ("MODEL", "LOGICAL", "PHYSICAL", "WATERMARK") if name not in whole
    ] == []


def test_settings_change_what_is_run_and_not_what_is_meant() -> None:
    app = shop()
    few, many = app.physical(ps.Settings(buckets=2)), app.physical(ps.Settings(buckets=16))
    assert few != many
    assert few.operators == many.operators
    with pytest.raises(PlanError, match="PLAN_SETTING"):
        app.physical(ps.Settings(buckets=0))


def test_a_program_is_tested_in_virtual_time() -> None:
    driver = shop().test()
    first = datetime(2024, 1, 1, 12, 0, 10, tzinfo=UTC)
    driver.push("pageviews", [{"at": first, "userid": user, "regionid": "r"} for user in "aba"])
    driver.finish()
    (row,) = driver.table("views_by_region")
    assert (row["regionid"], row["views"], row["people"]) == ("r", 3, 2)
    assert row["window_start"] == datetime(2024, 1, 1, 12, 0, tzinfo=UTC)
