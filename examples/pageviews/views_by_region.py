"""Views by region and minute: early every five seconds, on time, and corrected when late."""

from __future__ import annotations

from dataclasses import dataclass

import penstock as ps


@dataclass
class PageView:
    """One view of one page; `viewtime` in milliseconds since 1970."""

    viewtime: int
    userid: str
    pageid: str


@dataclass
class User:
    """A visitor of the site; a later record of the same user is what holds from then on."""

    userid: str
    regionid: str


app = ps.App("views_by_region")
views = app.stream(
    "pageviews", schema=PageView, format="delimited", event_time="viewtime", lateness="10s"
)
users = app.table("users", key="userid", schema=User, format="json", idle="1s")
(
    views.join(users, on="userid", how="left")
    .group_by("regionid")
    .window(ps.tumbling("1 minute"))  # where
    .trigger(ps.when_closed(early=ps.every("5s"), late=ps.each_row()))  # when
    .refine(ps.retracting(keep_late="5 minutes"))  # how
    .agg(views=ps.count(), people=ps.count_distinct("userid"))  # what
    .to("views_by_region")
)
