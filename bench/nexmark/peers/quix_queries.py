"""The queries of Nexmark as dataframes of Quix Streams: a function for each row, state by key."""

from __future__ import annotations

from collections.abc import Callable

from bench.nexmark.peers.bid_words import (
    RATE,
    channel_id,
    day_of,
    minute_of,
    price_in_bounds,
    time_of_day,
)
from bench.nexmark.peers.quix_frames import PLAIN_BID, Frame, Frames, Row, State, some
from bench.nexmark.peers.quix_windows import WINDOWS

_WINDOW = 10_000
_TOP = 10
_BID = ("auction", "bidder", "price", "channel", "url", "date_time", "extra")


def _each(work: Callable[[Row], object], *, many: bool = False) -> Callable[[Frames], Frame]:
    """A query that looks at each bid alone."""
    return lambda frames: frames.read("bid", "auction").apply(work, expand=many)


def _of_auctions(work: Callable[[Row, State], object]) -> Callable[[Frames], Frame]:
    """A query that keeps a state for each auction, of which it reads all bids."""
    return lambda frames: frames.read("bid", "auction").apply(work, stateful=True, expand=True)


def _q1(row: Row) -> Row:
    return {**some(row, PLAIN_BID), "price": row["price"] * RATE}


def _q2(row: Row) -> list[Row]:
    return [some(row, ("auction", "price"))] if row["auction"] % 123 == 0 else []


def _q10(row: Row) -> Row:
    return {
        **some(row, PLAIN_BID),
        "dt": day_of(row["date_time"]),
        "hm": minute_of(row["date_time"]),
    }


def _q14(row: Row) -> list[Row]:
    price = row["price"] * RATE
    if not price_in_bounds(price):
        return []
    kind = time_of_day(row["date_time"])
    found = {**some(row, PLAIN_BID), "price": price, "bid_time_type": kind}
    return [{**found, "c_counts": row["extra"].count("c")}]


def _q21(row: Row) -> list[Row]:
    found = channel_id(row["channel"], row["url"])
    if found is None:
        return []
    return [{**some(row, ("auction", "bidder", "price", "channel")), "channel_id": found}]


def _q22(row: Row) -> Row:
    parts = row["url"].split("/", 6)
    dirs = {"dir1": parts[3], "dir2": parts[4], "dir3": parts[5]}
    return {**some(row, ("auction", "bidder", "price", "channel")), **dirs}


def _q3(frames: Frames) -> Frame:
    people = frames.read("person", "id").filter(lambda row: row["state"] in {"OR", "ID", "CA"})
    auctions = frames.read("auction", "seller").filter(lambda row: row["category"] == 10)
    return people.concat(auctions).apply(_local_items, stateful=True, expand=True)


def _local_items(row: Row, state: State) -> list[Row]:
    if "seller" not in row:
        person = some(row, ("name", "city", "state"))
        state.set("person", person)
        return [{**person, "id": item} for item in state.get("items", [])]
    person = state.get("person")
    if person is None:
        state.set("items", [*state.get("items", []), row["id"]])
        return []
    return [{**person, "id": row["id"]}]


def _q4(frames: Frames) -> Frame:
    changes = _sales(frames).apply(_winner_change, stateful=True, expand=True)
    return frames.regroup(changes, "category").apply(_average, stateful=True)


def _winner_change(row: Row, state: State) -> list[Row]:
    before = state.get("best")
    best = _winner(row, state)
    if best is None or best == before:
        return []
    old = before["price"] if before else None
    return [{"category": state.get("auction")["category"], "old": old, "new": best["price"]}]


def _average(row: Row, state: State) -> Row:
    count = state.get("count", 0) + (row["old"] is None)
    total = state.get("total", 0) + row["new"] - (row["old"] or 0)
    state.set("count", count)
    state.set("total", total)
    return {"id": row["category"], "final": total // count}


def _q6(frames: Frames) -> Frame:
    changes = _sales(frames).apply(_sale_change, stateful=True, expand=True)
    return frames.regroup(changes, "seller").apply(_last_sales, stateful=True, expand=True)


def _sale_change(row: Row, state: State) -> list[Row]:
    before = state.get("best")
    best = _winner(row, state)
    if best is None or best == before:
        return []
    auction = state.get("auction")
    return [{**some(auction, ("seller", "expires", "id")), "price": best["price"]}]


def _last_sales(row: Row, state: State) -> list[Row]:
    """Keep the last ten sales: one that fell behind them is never among them again."""
    sale = [row["expires"], row["id"], row["price"]]
    others = [kept for kept in state.get("sales", []) if kept[1] != row["id"]]
    sales = sorted([*others, sale], reverse=True)[:_TOP]
    state.set("sales", sales)
    if sale not in sales:
        return []
    return [{"seller": row["seller"], "avg_price": sum(s[2] for s in sales) // len(sales)}]


def _q8(frames: Frames) -> Frame:
    pairs = frames.read("person", "id").concat(frames.read("auction", "seller"))
    return pairs.apply(_new_users, stateful=True, expand=True)


def _new_users(row: Row, state: State) -> list[Row]:
    window = row["date_time"] // _WINDOW * _WINDOW
    side, other = ("sold", "entered") if "seller" in row else ("entered", "sold")
    if state.get(f"{side}-{window}") is not None:
        return []
    mine = {"id": row["id"], "name": row["name"], "stime": window} if side == "entered" else {}
    state.set(f"{side}-{window}", mine)
    found = state.get(f"{other}-{window}")
    if found is None:
        return []
    return [mine or found]


def _q9(frames: Frames) -> Frame:
    return _sales(frames).apply(_winners, stateful=True, expand=True)


def _winners(row: Row, state: State) -> list[Row]:
    before = state.get("best")
    best = _winner(row, state)
    if best is None or best == before:
        return []
    bid = {**best, "bid_date_time": best["date_time"], "bid_extra": best["extra"]}
    return [{**bid, **state.get("auction")}]


def _winner(row: Row, state: State) -> Row | None:
    """Give the winning bid so far, of which the first one wins among like ones."""
    if "seller" in row:
        state.set("auction", row)
        bids = state.get("early", [])
    else:
        bids = [some(row, PLAIN_BID)]
    auction, best = state.get("auction"), state.get("best")
    if auction is None:
        state.set("early", [*state.get("early", []), *bids])
        return None
    valid = [bid for bid in bids if auction["date_time"] <= bid["date_time"] <= auction["expires"]]
    found: Row | None = min(
        [*valid, *([best] if best else [])],
        key=lambda bid: (-bid["price"], bid["date_time"]),
        default=None,
    )
    if found is not None and found != best:
        state.set("best", found)
    return found


def _sales(frames: Frames) -> Frame:
    return frames.read("auction", "id").concat(frames.read("bid", "auction"))


def _q13(frames: Frames) -> Frame:
    """The table at rest is small: each process has it, as one of its own."""
    known = frames.side()

    def with_side(row: Row) -> list[Row]:
        value = known.get(row["auction"] % 10_000)
        bid = some(row, ("auction", "bidder", "price", "date_time"))
        return [{**bid, "value": value}] if value is not None else []

    return frames.read("bid", "auction").apply(with_side, expand=True)


def _q15(frames: Frames) -> Frame:
    return frames.read("bid", "day").apply(_day_counts, stateful=True)


def _q16(frames: Frames) -> Frame:
    return frames.read("bid", "channel").apply(_channel_counts, stateful=True)


def _day_counts(row: Row, state: State) -> Row:
    found = _counts(row, state, day_of(row["date_time"]))
    del found["latest"]
    return found


def _channel_counts(row: Row, state: State) -> Row:
    found = _counts(row, state, day_of(row["date_time"]))
    minute = minute_of(found.pop("latest"))
    return {"channel": row["channel"], **found, "minute": minute}


def _counts(row: Row, state: State, day: str) -> Row:
    """Count a bid, and its bidder and auction where they were not yet seen at that rank."""
    kinds = ("total", "rank1", "rank2", "rank3")
    names = [f"{kind}_{who}" for who in ("bids", "bidders", "auctions") for kind in kinds]
    counts = state.get(day) or {"day": day, **dict.fromkeys(names, 0), "latest": 0}
    rank = _rank(row["price"])
    for kind in ("total", rank):
        counts[f"{kind}_bids"] += 1
    for who in ("bidder", "auction"):
        place = f"{day} {who} {row[who]}"
        seen = state.get(place, [])
        new = [kind for kind in ("total", rank) if kind not in seen]
        if new:
            state.set(place, [*seen, *new])
        for kind in new:
            counts[f"{kind}_{who}s"] += 1
    counts["latest"] = max(counts["latest"], row["date_time"])
    state.set(day, counts)
    return dict(counts)


def _q17(row: Row, state: State) -> list[Row]:
    day, price = day_of(row["date_time"]), row["price"]
    found = state.get(day) or {
        "auction": row["auction"],
        "day": day,
        "total_bids": 0,
        "rank1_bids": 0,
        "rank2_bids": 0,
        "rank3_bids": 0,
        "min_price": price,
        "max_price": price,
        "sum_price": 0,
    }
    found["total_bids"] += 1
    found[f"{_rank(price)}_bids"] += 1
    found["min_price"] = min(found["min_price"], price)
    found["max_price"] = max(found["max_price"], price)
    found["sum_price"] += price
    state.set(day, found)
    return [{**found, "avg_price": found["sum_price"] // found["total_bids"]}]


def _q18(row: Row, state: State) -> list[Row]:
    place = str(row["bidder"])
    if row["date_time"] < state.get(place, 0):
        return []
    state.set(place, row["date_time"])
    return [row]


def _q19(row: Row, state: State) -> list[Row]:
    top = state.get("top", [])
    if len(top) == _TOP and row["price"] <= top[-1]["price"]:
        return []
    top = sorted([*top, some(row, _BID)], key=lambda bid: -bid["price"])[:_TOP]
    state.set("top", top)
    return [{**bid, "rank_number": place + 1} for place, bid in enumerate(top)]


def _q20(frames: Frames) -> Frame:
    return _sales(frames).apply(_expanded, stateful=True, expand=True)


def _expanded(row: Row, state: State) -> list[Row]:
    """Give bids with their auction; of an auction of no interest only that it is known is kept."""
    if "seller" in row:
        wanted = row["category"] == 10
        state.set("auction", row if wanted else {})
        return [_pair(bid, row) for bid in state.get("early", [])] if wanted else []
    auction = state.get("auction")
    if auction is None:
        state.set("early", [*state.get("early", []), row])
    return [_pair(row, auction)] if auction else []


def _pair(bid: Row, auction: Row) -> Row:
    own = {f"bid_{name}" if name in {"date_time", "extra"} else name: bid[name] for name in _BID}
    others = {
        f"auction_{name}" if name in {"date_time", "extra"} else name: value
        for name, value in auction.items()
        if name != "id"
    }
    return {**own, **others}


def _rank(price: int) -> str:
    if price < 10_000:
        return "rank1"
    return "rank2" if price < 1_000_000 else "rank3"


QUERIES: dict[str, Callable[[Frames], Frame]] = {
    **WINDOWS,
    "q0": _each(lambda row: some(row, PLAIN_BID)),
    "q1": _each(_q1),
    "q2": _each(_q2, many=True),
    "q3": _q3,
    "q4": _q4,
    "q6": _q6,
    "q8": _q8,
    "q9": _q9,
    "q10": _each(_q10),
    "q13": _q13,
    "q14": _each(_q14, many=True),
    "q15": _q15,
    "q16": _q16,
    "q17": _of_auctions(_q17),
    "q18": _of_auctions(_q18),
    "q19": _of_auctions(_q19),
    "q20": _q20,
    "q21": _each(_q21, many=True),
    "q22": _each(_q22),
}
