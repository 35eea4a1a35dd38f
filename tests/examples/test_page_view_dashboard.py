from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from examples.page_view_dashboard import DASHBOARD, TOPIC, app, events, main, make_project, tables
from penstock.log.open import open_log
from penstock.project.dashboard import Dashboard, read_dashboard
from penstock.project.dashboard_files import dashboard_files


def dashboard() -> Dashboard:
    return read_dashboard("page_views", DASHBOARD.read_text(encoding="utf-8"), DASHBOARD.name)


def answers() -> list[list[tuple[object, ...]]]:
    """What the panels show of the example's events."""
    with duckdb.connect() as connection:
        for name, rows in tables(events()).items():
            connection.register(name, pl.DataFrame(rows).to_arrow())
        return [connection.execute(panel.query).fetchall() for panel in dashboard().panels]


def test_the_dashboard_shows_which_pages_were_viewed_by_which_visitors() -> None:
    (total,), pages, minutes, who = answers()
    assert total == (5,)
    assert pages == [("/talks.html", 3, 2), ("/about.html", 1, 1), ("/index.html", 1, 1)]
    assert [views for _, views in minutes] == [3, 2]
    assert [row[:3] for row in who] == [
        ("10.0.0.4", "/about.html", 1),
        ("10.0.0.7", "/talks.html", 2),
        ("10.0.0.7", "/index.html", 1),
        ("10.0.0.9", "/talks.html", 1),
    ]


def test_what_is_no_page_view_is_not_counted() -> None:
    driver = app.test()
    driver.push(TOPIC, [b'{"event_type": "LoginEvent", "timestamp": 1}', b"damaged"])
    assert driver.table("views_by_page") == []
    assert sum(len(driver.dead_letters(topic)) for topic in driver.topics) == 1


def test_a_project_is_made_whose_dashboard_has_its_tables(
    working_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(working_directory / "site")
    monkeypatch.chdir("site")
    assert dashboard_files(Path(".penstock")).get("page_views") == dashboard()
    with open_log(Path(".penstock")) as log:
        assert {"views_by_page", "pages_by_visitor", "views_by_minute"} <= set(log.topics())
        assert log.topic("views_by_page").config.compacts


def test_the_tables_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["page_view_dashboard"])
    main()
    assert "/talks.html  3 views by 2 visitors" in capsys.readouterr().out
