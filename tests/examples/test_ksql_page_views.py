from __future__ import annotations

from pathlib import Path

from examples.ksql_page_views import run


def test_views_are_counted_by_region_and_minute_of_their_own_time(tmp_path: Path) -> None:
    assert list(run(tmp_path)) == [
        "North  08:00  2 views",
        "North  08:01  1 views",
        "South  08:00  2 views",
        "ages of visitors: [31, 31, 31, 58, 58]",
    ]
