"""The queries of Nexmark in the DSL, where they read well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import penstock as ps
from bench.nexmark.schemas import AUCTION, BID, PERSON, SIDE
from penstock.front.dsl.stream import Stream

LATENESS = "4s"
FOREVER = "3650 days"
Build: TypeAlias = Callable[[ps.App, str, Path], object]
"""Writes a query into an app, with its results in a topic; the folder is that of the events."""
_LOCAL = ("OR", "ID", "CA")
_WHO = ("name", "city", "state")
_EURO = "decimal(19, 3)"


@dataclass(frozen=True, slots=True)
class Program:
    """A query as a program, and whether what it leaves is a table."""

    build: Build
    table: bool = False


def _bids(app: ps.App) -> Stream:
    return app.stream("bid", schema=BID, event_time="date_time", lateness=LATENESS)


def _auctions(app: ps.App) -> Stream:
    return app.stream("auction", schema=AUCTION, event_time="date_time", lateness=LATENESS)


def _persons(app: ps.App) -> Stream:
    return app.stream("person", schema=PERSON, event_time="date_time", lateness=LATENESS)


def _q0(app: ps.App, topic: str, _: Path) -> object:
    return _bids(app).select("auction", "bidder", "price", "date_time", "extra").to(topic)


def _q1(app: ps.App, topic: str, _: Path) -> object:
    euros = ps.lit(Decimal("0.908")).cast(_EURO) * ps.col("price").cast(_EURO)
    return _bids(app).select("auction", "bidder", "date_time", "extra", price=euros).to(topic)


def _q2(app: ps.App, topic: str, _: Path) -> object:
    return _bids(app).filter(ps.col("auction") % 123 == 0).select("auction", "price").to(topic)


def _q3(app: ps.App, topic: str, _: Path) -> object:
    auctions = _auctions(app).filter(ps.col("category") == 10).select("id", "seller")
    persons = _persons(app).filter(ps.col("state").is_in(*_LOCAL)).select("id", *_WHO)
    joined = auctions.join(persons.rename(id="person"), on={"seller": "person"}, within=FOREVER)
    return joined.select(*_WHO, "id").to(topic)


def _q8(app: ps.App, topic: str, _: Path) -> object:
    auctions = _auctions(app).select("seller")
    new = _persons(app).join(auctions, on={"id": "seller"}, how="semi", window=ps.tumbling("10s"))
    start = ps.millis("date_time") - ps.millis("date_time") % 10_000
    return new.select("id", "name", stime=ps.from_millis(start)).to(topic)


def _q11(app: ps.App, topic: str, _: Path) -> object:
    sessions = _bids(app).group_by("bidder").window(ps.session("10s")).agg(bid_count=ps.count())
    return sessions.rename(window_start="starttime", window_end="endtime").to(topic)


def _q12(app: ps.App, topic: str, _: Path) -> object:
    windows = ps.tumbling("10s", time="processing")
    counted = _bids(app).group_by("bidder").window(windows).agg(bid_count=ps.count())
    return counted.rename(window_start="starttime", window_end="endtime").to(topic)


def _q13(app: ps.App, topic: str, folder: Path) -> object:
    side = ps.static(folder / "side" / "side.parquet", schema=SIDE)
    asked = _bids(app).select("auction", "bidder", "price", "date_time", at=_place())
    found = asked.enrich(side, on={"at": "key"})
    return found.select("auction", "bidder", "price", "date_time", "value").to(topic)


def _place() -> ps.Expression:
    return ps.col("auction") % 10_000


def _q20(app: ps.App, topic: str, _: Path) -> object:
    auctions = _auctions(app).filter(ps.col("category") == 10)
    auctions = auctions.rename(date_time="auction_date_time", extra="auction_extra")
    bids = _bids(app).rename(date_time="bid_date_time", extra="bid_extra")
    return bids.join(auctions, on={"auction": "id"}, within=FOREVER).to(topic)


PROGRAMS: Mapping[str, Program] = {
    "q0": Program(_q0),
    "q1": Program(_q1),
    "q2": Program(_q2),
    "q3": Program(_q3),
    "q8": Program(_q8),
    "q11": Program(_q11),
    "q12": Program(_q12),
    "q13": Program(_q13),
    "q20": Program(_q20),
}
