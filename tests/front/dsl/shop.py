"""A program to begin with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.front.dsl.app import App
from penstock.front.dsl.stream import Stream


@dataclass
class PageView:
    viewtime: datetime
    userid: str
    regionid: str
    seconds: int
    price: float
    ok: bool
    tags: list[str]


def page_views(app: App | None = None) -> Stream:
    """Give the stream of page views of an app."""
    shop = app or App("shop")
    return shop.stream("pageviews", schema=PageView, event_time="viewtime", lateness="10s")
