"""The queries of Bytewax's own operators that bring auctions and their bids together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python

from bench.nexmark.peers.bytewax_flow import Flow, Stream
from bench.nexmark.peers.bytewax_streams import (
    AUCTION,
    BID,
    PLAIN_BID,
    Row,
    keyed,
    rows_of,
    values,
)

_TOP = 10
_Sale: TypeAlias = tuple[Row | None, list[Row], Row | None]
"""An auction, the bids that came before it, and the winning bid so far."""
_Pairs: TypeAlias = tuple[Row | None, list[Row]]
"""An auction, and the bids that came before it."""
_Told: TypeAlias = Callable[[Row, Row | None, Row], Row]
"""What to say of an auction, by the bid that won before and the one that wins now."""


def _sides(flow: Flow, of_auction: str, of_bid: str) -> Stream:
    auctions, bids = rows_of(flow, "auction", of_auction), rows_of(flow, "bid", of_bid)
    return op.merge("sides", keyed("auctions", auctions, "id"), keyed("offers", bids, "auction"))


def _winners(flow: Flow, of_auction: str, of_bid: str, told: _Told) -> Stream:
    """Say each time that another bid wins."""

    def changed(state: _Sale | None, row: Row) -> tuple[_Sale, list[Row]]:
        auction, waiting, before = state or (None, [], None)
        bids = [row]
        if "seller" in row:
            auction, bids, waiting = row, waiting, []
        if auction is None:
            waiting.append(row)
            return (None, waiting, None), []
        best = _best(auction, before, bids)
        found = [told(auction, before, best)] if best is not None and best is not before else []
        return (auction, waiting, best), found

    pairs = _sides(flow, of_auction, of_bid)
    return values(op.stateful_flat_map("winners", pairs, changed))


def _best(auction: Row, best: Row | None, bids: Iterable[Row]) -> Row | None:
    """Give the winning bid: the highest, of like ones the first."""
    since, until = auction["date_time"], auction["expires"]
    for bid in bids:
        if since <= bid["date_time"] <= until and (best is None or _order(bid) < _order(best)):
            best = bid
    return best


def _order(bid: Row) -> tuple[int, int]:
    return -bid["price"], bid["date_time"]


def _q4(flow: Flow) -> Stream:
    def told(auction: Row, before: Row | None, best: Row) -> Row:
        old = None if before is None else before["price"]
        return {"category": auction["category"], "old": old, "new": best["price"]}

    columns = "id category date_time expires seller"
    changes = _winners(flow, columns, "auction price date_time", told)
    averages = op.stateful_flat_map("average", keyed("category", changes, "category"), _average)
    return op.map("rows", averages, lambda item: item[1])


def _average(state: tuple[int, int] | None, row: Row) -> tuple[tuple[int, int], list[Row]]:
    total, count = state or (0, 0)
    total, count = total + row["new"] - (row["old"] or 0), count + (row["old"] is None)
    return (total, count), [{"id": row["category"], "final": total // count}]


def _q6(flow: Flow) -> Stream:
    def told(auction: Row, _before: Row | None, best: Row) -> Row:
        return {
            "seller": auction["seller"],
            "sale": (auction["expires"], auction["id"]),
            "price": best["price"],
        }

    changes = _winners(flow, "id seller date_time expires", "auction price date_time", told)
    averages = op.stateful_flat_map("average", keyed("seller", changes, "seller"), _last_sales)
    return op.map("rows", averages, lambda item: item[1])


def _last_sales(
    state: dict[tuple[int, int], int] | None, row: Row
) -> tuple[dict[tuple[int, int], int], list[Row]]:
    """Keep the last ten sales: one that fell behind them is never among them again."""
    sales = state if state is not None else {}
    sales[row["sale"]] = row["price"]
    if len(sales) > _TOP:
        first = min(sales)
        del sales[first]
        if first == row["sale"]:
            return sales, []
    average = sum(sales.values()) // len(sales)
    return sales, [{"seller": row["seller"], "avg_price": average}]


def _q9(flow: Flow) -> Stream:
    def told(auction: Row, _before: Row | None, best: Row) -> Row:
        won = {name: best[name] for name in ("auction", "bidder", "price")}
        times = {"bid_date_time": best["date_time"], "bid_extra": best["extra"]}
        return {**auction, **won, **times}

    return _winners(flow, AUCTION, PLAIN_BID, told)


def _q20(flow: Flow) -> Stream:
    return values(op.stateful_flat_map("join", _sides(flow, AUCTION, BID), _expanded))


def _expanded(state: _Pairs | None, row: Row) -> tuple[_Pairs, list[Row]]:
    """Give bids with their auction; of an auction of no interest only that it is known is kept."""
    auction, waiting = state if state is not None else (None, [])
    if "seller" in row:
        wanted = row["category"] == 10
        return (row if wanted else {}, []), [_pair(bid, row) for bid in waiting if wanted]
    if auction is None:
        waiting.append(row)
        return (None, waiting), []
    return (auction, []), [_pair(row, auction)] if auction else []


def _pair(bid: Row, auction: Row) -> Row:
    times = {"bid_date_time": bid["date_time"], "auction_date_time": auction["date_time"]}
    extras = {"bid_extra": bid["extra"], "auction_extra": auction["extra"]}
    return {**auction, **bid, **times, **extras}


SALES: dict[str, Callable[[Flow], Stream]] = {"q4": _q4, "q6": _q6, "q9": _q9, "q20": _q20}
