"""The queries of Nexmark as tables of Pathway.

Times are milliseconds. Pathway keeps the name `id` for itself: ids of persons and auctions are
`person_id` and `auction_id` until a result is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pathway as pw  # type: ignore[import-not-found]  # of another Python

from bench.nexmark.peers.pathway_windows import WINDOWS, Read, Table

Expression = Any

_BID = "auction bidder price channel url date_time extra"
_PLAIN_BID = "auction bidder price date_time extra"
_AUCTION = (
    "auction_id item_name description initial_bid reserve date_time expires seller category extra"
)
_RANKS = ("rank1", "rank2", "rank3")
_RATE = 0.908
_WINDOW = 10_000
_TOP = 10
_CHANNEL_ID = re.compile(r"(?:&|^)channel_id=([^&]*)")
_KNOWN = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}


@dataclass(frozen=True, slots=True)
class Query:
    """What makes the table of a query, and what its columns are called at last."""

    build: Callable[[Read], Table]
    names: tuple[tuple[str, str], ...] = ()


def _q1(read: Read) -> Table:
    bid = read("bid", _PLAIN_BID)
    return bid.with_columns(price=bid.price * _RATE)


def _q2(read: Read) -> Table:
    bid = read("bid", "auction price")
    return bid.filter(bid.auction % 123 == 0)


def _q3(read: Read) -> Table:
    person, auction = (
        read("person", "person_id name city state"),
        read("auction", "auction_id seller category"),
    )
    person = person.filter((person.state == "OR") | (person.state == "ID") | (person.state == "CA"))
    auction = auction.filter(auction.category == 10)
    found = auction.join(person, auction.seller == person.person_id)
    return found.select(person.name, person.city, person.state, auction.auction_id)


def _q4(read: Read) -> Table:
    valid = _valid(
        read("auction", "auction_id category date_time expires"),
        read("bid", "auction price date_time"),
        ("auction_id", "category"),
    )
    best = valid.groupby(valid.auction_id, valid.category).reduce(
        valid.category, final=pw.reducers.max(valid.price)
    )
    return best.groupby(best.category).reduce(
        best.category, final=pw.reducers.sum(best.final) // pw.reducers.count()
    )


def _q6(read: Read) -> Table:
    valid = _valid(
        read("auction", "auction_id seller date_time expires"),
        read("bid", "auction price date_time"),
        ("auction_id", "seller", "expires"),
    )
    best = valid.groupby(valid.auction_id, valid.seller, valid.expires).reduce(
        valid.seller,
        sale=pw.make_tuple(-valid.expires, -valid.auction_id, pw.reducers.max(valid.price)),
    )
    sales = best.groupby(best.seller).reduce(best.seller, sales=pw.reducers.sorted_tuple(best.sale))
    return sales.select(
        sales.seller, avg_price=pw.apply_with_type(_average_of_last, int, sales.sales)
    )


def _average_of_last(sales: tuple[tuple[int, int, int], ...]) -> int:
    last = [sale[2] for sale in sales[:_TOP]]
    return sum(last) // len(last)


def _q8(read: Read) -> Table:
    person, auction = (
        read("person", "person_id name date_time"),
        read("auction", "seller date_time"),
    )
    entered = person.with_columns(window=person.date_time // _WINDOW)
    entered = entered.groupby(entered.person_id, entered.name, entered.window).reduce(
        entered.person_id, entered.name, entered.window
    )
    sold = auction.with_columns(window=auction.date_time // _WINDOW)
    sold = sold.groupby(sold.seller, sold.window).reduce(sold.seller, sold.window)
    found = entered.join(sold, entered.person_id == sold.seller, entered.window == sold.window)
    return found.select(entered.person_id, entered.name, stime=entered.window * _WINDOW)


def _q9(read: Read) -> Table:
    columns = tuple(_AUCTION.split())
    valid = _valid(read("auction", _AUCTION), read("bid", _PLAIN_BID), columns)
    valid = valid.with_columns(order=pw.make_tuple(valid.price, -valid.bid_date_time))
    best = valid.groupby(valid.auction_id).reduce(winner=pw.reducers.argmax(valid.order))
    return valid.ix(best.winner).without(pw.this.order)


def _q10(read: Read) -> Table:
    bid = read("bid", _PLAIN_BID)
    return bid.with_columns(dt=_written(bid, "%Y-%m-%d"), hm=_written(bid, "%H:%M"))


def _q13(read: Read) -> Table:
    bid, side = read("bid", "auction bidder price date_time"), read("side", "key value")
    bid = bid.with_columns(key=bid.auction % 10_000)
    found = bid.join(side, bid.key == side.key)
    return found.select(bid.auction, bid.bidder, bid.price, bid.date_time, side.value)


def _q14(read: Read) -> Table:
    bid = read("bid", _PLAIN_BID)
    bid = bid.with_columns(price=bid.price * _RATE, hour=bid.date_time % 86_400_000 // 3_600_000)
    bid = bid.filter((bid.price > 1_000_000) & (bid.price < 50_000_000))
    rest = pw.if_else((bid.hour <= 6) | (bid.hour >= 20), "nightTime", "otherTime")
    return bid.with_columns(
        bid_time_type=pw.if_else((bid.hour >= 8) & (bid.hour <= 18), "dayTime", rest),
        c_counts=bid.extra.str.count("c"),
    ).without(pw.this.hour)


def _q15(read: Read) -> Table:
    return _distinct(read("bid", "auction bidder price date_time"), ("day",), {})


def _q16(read: Read) -> Table:
    bid = read("bid", "auction bidder price channel date_time")
    latest = {"minute": pw.reducers.max(pw.this.date_time)}
    found = _distinct(bid, ("channel", "day"), latest)
    minute = found.minute.dt.utc_from_timestamp(unit="ms").dt.strftime("%H:%M")
    return found.with_columns(minute=minute)


def _q17(read: Read) -> Table:
    bid = _ranked(read("bid", "auction price date_time"))
    found = bid.groupby(bid.auction, bid.day).reduce(
        bid.auction,
        bid.day,
        **_counts(bid),
        min_price=pw.reducers.min(bid.price),
        max_price=pw.reducers.max(bid.price),
        sum_price=pw.reducers.sum(bid.price),
    )
    return _named_days(found.with_columns(avg_price=found.sum_price // found.total_bids))


def _q18(read: Read) -> Table:
    bid = read("bid", _BID)
    last = bid.groupby(bid.bidder, bid.auction).reduce(last=pw.reducers.argmax(bid.date_time))
    return bid.ix(last.last)


def _q19(read: Read) -> Table:
    bid = read("bid", _BID)
    offers = bid.select(bid.auction, offer=pw.make_tuple(-bid.price, bid.id))
    sets = offers.groupby(offers.auction).reduce(offers=pw.reducers.sorted_tuple(offers.offer))
    kind = list[tuple[int, pw.Pointer]]
    top = sets.select(offer=pw.apply_with_type(_first_ten, kind, sets.offers)).flatten(
        pw.this.offer
    )
    top = top.select(rank_number=top.offer[0], which=top.offer[1])
    return bid.ix(top.which).with_columns(rank_number=top.rank_number)


def _first_ten(offers: tuple[tuple[int, Any], ...]) -> tuple[tuple[int, Any], ...]:
    return tuple((place + 1, offer[1]) for place, offer in enumerate(offers[:_TOP]))


def _q20(read: Read) -> Table:
    bid, auction = read("bid", _BID), read("auction", _AUCTION)
    auction = auction.filter(auction.category == 10)
    own = [
        auction[name]
        for name in _AUCTION.split()
        if name not in {"auction_id", "date_time", "extra"}
    ]
    return bid.join(auction, bid.auction == auction.auction_id).select(
        *(bid[name] for name in ("auction", "bidder", "price", "channel", "url")),
        *own,
        bid_date_time=bid.date_time,
        bid_extra=bid.extra,
        auction_date_time=auction.date_time,
        auction_extra=auction.extra,
    )


def _q21(read: Read) -> Table:
    bid = read("bid", "auction bidder price channel url")
    found = bid.select(
        bid.auction,
        bid.bidder,
        bid.price,
        bid.channel,
        channel_id=pw.apply_with_type(_channel_id, str, bid.channel, bid.url),
    )
    return found.filter(found.channel_id != "")


def _channel_id(channel: str, url: str) -> str:
    known = _KNOWN.get(channel.lower())
    if known is not None:
        return known
    found = _CHANNEL_ID.search(url)
    return found[1] if found else ""


def _q22(read: Read) -> Table:
    bid = read("bid", "auction bidder price channel url")
    parts = bid.select(
        bid.auction,
        bid.bidder,
        bid.price,
        bid.channel,
        parts=pw.apply_with_type(_parts, tuple[str, str, str], bid.url),
    )
    dirs = {f"dir{number + 1}": parts.parts[number] for number in range(3)}
    return parts.with_columns(**dirs).without(pw.this.parts)


def _parts(url: str) -> tuple[str, str, str]:
    found = url.split("/", 6)
    return found[3], found[4], found[5]


def _valid(auction: Table, bid: Table, columns: tuple[str, ...]) -> Table:
    """Bids that came while their auction was open, with columns of the auction."""
    of_bid = [bid[name] for name in ("bidder",) if name in bid.column_names()]
    extra = {"bid_extra": bid.extra} if "extra" in bid.column_names() else {}
    times = {"since": auction.date_time, "until": auction.expires, "bid_date_time": bid.date_time}
    found = auction.join(bid, auction.auction_id == bid.auction).select(
        *(auction[name] for name in columns), bid.auction, bid.price, *of_bid, **times, **extra
    )
    found = found.filter(
        (found.bid_date_time >= found.since) & (found.bid_date_time <= found.until)
    )
    return found.without(pw.this.since, pw.this.until)


def _ranked(bid: Table) -> Table:
    """Add the day and, for each rank of price, 1 or 0."""
    low, high = bid.price < 10_000, bid.price >= 1_000_000
    return bid.with_columns(
        day=bid.date_time // 86_400_000,
        rank1=pw.cast(int, low),
        rank2=pw.cast(int, ~(low | high)),
        rank3=pw.cast(int, high),
    )


def _counts(rows: Table) -> dict[str, Expression]:
    sums = {f"{rank}_bids": pw.reducers.sum(rows[rank]) for rank in _RANKS}
    return {"total_bids": pw.reducers.count(), **sums}


def _distinct(bid: Table, keys: tuple[str, ...], more: dict[str, Expression]) -> Table:
    """Count bids, and how many different bidders and auctions there were, by rank of price."""
    bid = _ranked(bid)
    group = [bid[key] for key in keys]
    found = bid.groupby(*group).reduce(*group, **_counts(bid), **more)
    for who in ("bidder", "auction"):
        seen = bid.groupby(*group, bid[who]).reduce(
            *group, **{rank: pw.reducers.max(bid[rank]) for rank in _RANKS}
        )
        counted = seen.groupby(*(seen[key] for key in keys)).reduce(
            *(seen[key] for key in keys),
            **{f"total_{who}s": pw.reducers.count()},
            **{f"{rank}_{who}s": pw.reducers.sum(seen[rank]) for rank in _RANKS},
        )
        # The same groups have the same row ids on both sides.
        counted = counted.with_universe_of(found)
        found = found + counted.without(*(counted[key] for key in keys))
    return _named_days(found)


def _named_days(rows: Table) -> Table:
    time = (rows.day * 86_400_000).dt.utc_from_timestamp(unit="ms")
    return rows.with_columns(day=time.dt.strftime("%Y-%m-%d"))


def _written(rows: Table, form: str) -> Expression:
    return rows.date_time.dt.utc_from_timestamp(unit="ms").dt.strftime(form)


_OF_AUCTION = (("auction_id", "id"),)
QUERIES = {
    **{name: Query(build) for name, build in WINDOWS.items()},
    "q0": Query(lambda read: read("bid", _PLAIN_BID)),
    "q1": Query(_q1),
    "q2": Query(_q2),
    "q3": Query(_q3, _OF_AUCTION),
    "q4": Query(_q4, (("category", "id"),)),
    "q6": Query(_q6),
    "q8": Query(_q8, (("person_id", "id"),)),
    "q9": Query(_q9, _OF_AUCTION),
    "q10": Query(_q10),
    "q13": Query(_q13),
    "q14": Query(_q14),
    "q15": Query(_q15),
    "q16": Query(_q16),
    "q17": Query(_q17),
    "q18": Query(_q18),
    "q19": Query(_q19),
    "q20": Query(_q20),
    "q21": Query(_q21),
    "q22": Query(_q22),
}
