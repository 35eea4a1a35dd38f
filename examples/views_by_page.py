"""Views of each page by the minute: early every ten seconds, on time, and corrected when late.

penstock topics create pageviews --schema "viewtime bigint, userid string, pageid string"
penstock explain examples/views_by_page.py:app
penstock run examples/views_by_page.py:app
"""

from __future__ import annotations

from dataclasses import dataclass

import penstock as ps


@dataclass
class PageView:
    """One view of one page; `viewtime` in milliseconds since 1970."""

    viewtime: int
    userid: str
    pageid: str


app = ps.App("views_by_page")
views = app.stream("pageviews", schema=PageView, event_time="viewtime", lateness="10s")
(
    views.expect("has a page", ps.col("pageid").is_not_null())
    .group_by("pageid")
    .window(ps.tumbling("1 minute"))  # where
    .trigger(ps.when_closed(early=ps.every("10s"), late=ps.each_row()))  # when
    .refine(ps.retracting(keep_late="1 hour"))  # how
    .agg(views=ps.count(), people=ps.count_distinct("userid"))  # what
    .to("views_by_page")
)
