from __future__ import annotations

import inspect
from pathlib import Path

import penstock as ps
from examples.raw_and_views import (
    HISTORY,
    RAW,
    fingerprint,
    make,
    read,
    slow_pages,
    views_by_page,
    write,
)

VIEWS = [
    {"page": "/about.html", "views": 1},
    {"page": "/index.html", "views": 1},
    {"page": "/talks.html", "views": 3},
]


def test_views_come_and_go_and_the_raw_topic_never_changes(tmp_path: Path) -> None:
    write(tmp_path, HISTORY)
    raw = fingerprint(tmp_path)
    make(tmp_path, views_by_page())
    assert read(tmp_path, "views_by_page", ["page"]) == VIEWS
    with ps.open_log(tmp_path) as log:
        log.delete_topic("views_by_page")
    make(tmp_path, views_by_page(), rebuild=True)
    assert read(tmp_path, "views_by_page", ["page"]) == VIEWS
    assert fingerprint(tmp_path) == raw
    write(tmp_path, HISTORY[:1])
    assert fingerprint(tmp_path) != raw


def test_a_second_view_has_all_of_history_and_the_writer_does_not_know(tmp_path: Path) -> None:
    write(tmp_path, HISTORY)
    make(tmp_path, views_by_page())
    write(tmp_path, [("dot", "/talks.html", "search", 900)])
    make(tmp_path, slow_pages())
    slowest = read(tmp_path, "slow_pages", ["page", "referrer"])[-1]
    expected = {"page": "/talks.html", "referrer": "search", "longest": 900, "views": 3}
    assert slowest == expected
    known = inspect.getsource(write)
    assert "views" not in known
    assert RAW == "page_events"
