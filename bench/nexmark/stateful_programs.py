"""Queries of Nexmark with state in the DSL, where they read well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import penstock as ps
from bench.nexmark.schemas import AUCTION, BID
from penstock.front.dsl.stream import Stream

LATENESS = "4s"
Build: TypeAlias = Callable[[ps.App, str, Path], object]


@dataclass(frozen=True, slots=True)
class StatefulProgram:
    """A query as a program, and the columns that tell the rows of its table apart."""

    build: Build
    keys: tuple[str, ...]
    table: bool = True


def _bids(app: ps.App) -> Stream:
    return app.stream("bid", schema=BID, event_time="date_time", lateness=LATENESS)


def _auctions(app: ps.App) -> Stream:
    return app.stream("auction", schema=AUCTION, event_time="date_time", lateness=LATENESS)


def _q4(app: ps.App, topic: str, _: Path) -> object:
    offers = _auctions(app).join(_bids(app), on={"id": "auction"}, until="expires")
    sold = offers.group_by("id", "category").agg(final=ps.max("price")).to_table()
    by_category = sold.group_by("category").agg(final=ps.avg("final")).to_table()
    return by_category.rename(category="id").to(topic)


def _q17(app: ps.App, topic: str, _: Path) -> object:
    price = ps.col("price")
    bids = _bids(app).with_columns(
        day=ps.to_date("date_time").cast("string"),
        low=ps.when(price < 10_000).then(1).otherwise(None),
        middle=ps.when((price >= 10_000) & (price < 1_000_000)).then(1).otherwise(None),
        high=ps.when(price >= 1_000_000).then(1).otherwise(None),
    )
    results = bids.group_by("auction", "day").agg(
        total_bids=ps.count(),
        rank1_bids=ps.count("low"),
        rank2_bids=ps.count("middle"),
        rank3_bids=ps.count("high"),
        min_price=ps.min("price"),
        max_price=ps.max("price"),
        avg_price=ps.avg("price"),
        sum_price=ps.sum("price"),
    )
    return results.to_table().to(topic)


def _q18(app: ps.App, topic: str, _: Path) -> object:
    return _bids(app).to_table(key=("bidder", "auction"), order="event time").to(topic)


def _q19(app: ps.App, topic: str, _: Path) -> object:
    best = _bids(app).top_n(10, by="price", group="auction", place="rank_number")
    return best.to_table().to(topic)


PROGRAMS: Mapping[str, StatefulProgram] = {
    "q4": StatefulProgram(_q4, ("id",)),
    "q17": StatefulProgram(_q17, ("auction", "day")),
    "q18": StatefulProgram(_q18, ("bidder", "auction")),
    "q19": StatefulProgram(_q19, ("auction", "rank_number")),
}
