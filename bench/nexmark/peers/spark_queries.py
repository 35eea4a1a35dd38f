"""Nexmark for plain Spark: each query in the best form that Spark takes, over streaming views.

`person`, `auction` and `bid` are views over the files, `side` is a table at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

_WON = """
  SELECT a.*, b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
  FROM auction a JOIN bid b
    ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires"""
_RANKED = """
  count(*) AS total_bids,
  count_if(price < 10000) AS rank1_bids,
  count_if(price >= 10000 AND price < 1000000) AS rank2_bids,
  count_if(price >= 1000000) AS rank3_bids"""
_RANK = "CASE WHEN price < 10000 THEN 1 WHEN price < 1000000 THEN 2 ELSE 3 END"
# Spark has no count(DISTINCT) over a stream: one set an id, of the id and the rank of the price.
_SETS = f"""
  collect_set(bidder * 4 + {_RANK}) AS bidder_set,
  collect_set(auction * 4 + {_RANK}) AS auction_set"""
_COUNTED = ", ".join(
    f"size(array_distinct(transform({kind}_set, x -> x div 4))) AS total_{kind}s, "
    + ", ".join(
        f"size(filter({kind}_set, x -> x % 4 = {rank})) AS rank{rank}_{kind}s" for rank in (1, 2, 3)
    )
    for kind in ("bidder", "auction")
)
_BIDS = "total_bids, rank1_bids, rank2_bids, rank3_bids"
_CHANNEL_ID = r"nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '')"
_KNOWN = "CASE lower(channel) {} END".format(
    " ".join(
        f"WHEN '{name}' THEN '{number}'"
        for number, name in enumerate(("apple", "google", "facebook", "baidu"))
    )
)
_PARTS = ", ".join(f"parts[{part + 2}] AS dir{part}" for part in (1, 2, 3))
_PRICE = "cast(0.908 * price AS DECIMAL(23, 3)) AS price"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query: what it reads, its SQL, and what its results are."""

    sql: str
    reads: tuple[str, ...] = ("bid",)
    timed: bool = False
    """Whether event time matters, so that the views have a watermark."""
    keys: tuple[str, ...] = ()
    """What a row of a table that changes is known by; none where rows are only added."""
    total: str = ""
    """Asked of the table `finals`, the last row of each key, after every batch: the second
    aggregation, which Spark refuses to a stream in update mode."""


QUERIES = {
    "q0": Query(sql="SELECT auction, bidder, price, date_time, extra FROM bid"),
    "q1": Query(sql=f"SELECT auction, bidder, {_PRICE}, date_time, extra FROM bid"),
    "q2": Query(sql="SELECT auction, price FROM bid WHERE auction % 123 = 0"),
    "q3": Query(
        reads=("auction", "person"),
        sql="""
        SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
        WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')""",
    ),
    "q4": Query(
        reads=("auction", "bid"),
        timed=True,
        keys=("auction",),
        sql=f"""
        SELECT id AS auction, category, max(price) AS final FROM ({_WON}) GROUP BY id, category""",
        total="""
        SELECT category AS id, sum(final) div count(*) AS final FROM finals GROUP BY category""",
    ),
    "q5": Query(
        timed=True,
        sql="""
        SELECT hot.auction, hot.num, w.start AS starttime, w.end AS endtime FROM (
          SELECT w, inline_outer(filter(counted, x -> x.num = most)) AS (auction, num)
          FROM (
            SELECT window AS w, collect_list(struct(auction, num)) AS counted, max(num) AS most
            FROM (
              SELECT window, auction, count(*) AS num FROM bid
              GROUP BY window(date_time, '10 seconds', '2 seconds'), auction)
            GROUP BY window)) AS hot""",
    ),
    "q6": Query(
        reads=("auction", "bid"),
        timed=True,
        keys=("auction",),
        sql=f"""
        SELECT id AS auction, seller, expires, max(price) AS final FROM ({_WON})
        GROUP BY id, seller, expires""",
        total="""
        SELECT seller, sum(final) div count(*) AS avg_price FROM (
          SELECT seller, final, row_number() OVER (
            PARTITION BY seller ORDER BY expires DESC, auction DESC) AS place FROM finals)
        WHERE place <= 10 GROUP BY seller""",
    ),
    # Up to 16 bids that share the highest price of their window.
    "q7": Query(
        timed=True,
        sql="""
        SELECT inline(filter(highest, x -> x.price = highest[0].price)) FROM (
          SELECT max_by(struct(auction, bidder, price, date_time, extra), price, 16) AS highest
          FROM bid GROUP BY window(date_time, '10 seconds'))""",
    ),
    "q8": Query(
        reads=("auction", "person"),
        timed=True,
        sql="""
        SELECT p.id, p.name, p.w.start AS stime
        FROM (SELECT id, name, window AS w FROM person
              GROUP BY id, name, window(date_time, '10 seconds')) p
        JOIN (SELECT seller, window AS w FROM auction
              GROUP BY seller, window(date_time, '10 seconds')) a
        ON p.id = a.seller AND p.w = a.w""",
    ),
    "q9": Query(
        reads=("auction", "bid"),
        timed=True,
        keys=("id",),
        sql=f"""
        SELECT id, item_name, description, initial_bid, reserve, date_time, expires, seller,
               category, extra, best.auction, best.bidder, best.price, best.bid_date_time,
               best.bid_extra
        FROM (
          SELECT id, item_name, description, initial_bid, reserve, date_time, expires, seller,
                 category, extra,
                 max_by(struct(auction, bidder, price, bid_date_time, bid_extra),
                        struct(price, -unix_millis(bid_date_time))) AS best
          FROM ({_WON}) GROUP BY ALL)""",
    ),
    "q10": Query(
        sql="""
        SELECT auction, bidder, price, date_time, extra, date_format(date_time, 'yyyy-MM-dd') AS dt,
               date_format(date_time, 'HH:mm') AS hm FROM bid"""
    ),
    "q11": Query(
        timed=True,
        sql="""
        SELECT bidder, count(*) AS bid_count, session_window.start AS starttime,
               session_window.end AS endtime
        FROM bid GROUP BY bidder, session_window(date_time, '10 seconds')""",
    ),
    "q12": Query(
        keys=("bidder", "starttime"),
        sql="""
        SELECT bidder, count(*) AS bid_count, window.start AS starttime, window.end AS endtime
        FROM bid GROUP BY bidder, window(current_timestamp(), '10 seconds')""",
    ),
    "q13": Query(
        sql="""
        SELECT /*+ BROADCAST(s) */ b.auction, b.bidder, b.price, b.date_time, s.value
        FROM bid b JOIN side s ON b.auction % 10000 = s.key"""
    ),
    "q14": Query(
        sql=f"""
        SELECT auction, bidder, {_PRICE},
               CASE WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
                    WHEN hour(date_time) <= 6 OR hour(date_time) >= 20 THEN 'nightTime'
                    ELSE 'otherTime' END AS bid_time_type,
               date_time, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000"""
    ),
    "q15": Query(
        keys=("day",),
        sql=f"""
        SELECT cast(day AS STRING) AS day, {_BIDS}, {_COUNTED} FROM (
          SELECT to_date(date_time) AS day, {_RANKED}, {_SETS} FROM bid
          GROUP BY to_date(date_time))""",
    ),
    "q16": Query(
        keys=("channel", "day"),
        sql=f"""
        SELECT channel, cast(day AS STRING) AS day, date_format(latest, 'HH:mm') AS minute,
               {_BIDS}, {_COUNTED}
        FROM (
          SELECT channel, to_date(date_time) AS day, max(date_time) AS latest, {_RANKED}, {_SETS}
          FROM bid GROUP BY channel, to_date(date_time))""",
    ),
    "q17": Query(
        keys=("auction", "day"),
        sql=f"""
        SELECT auction, cast(to_date(date_time) AS STRING) AS day, {_RANKED},
               min(price) AS min_price, max(price) AS max_price,
               sum(price) div count(*) AS avg_price, sum(price) AS sum_price
        FROM bid GROUP BY auction, to_date(date_time)""",
    ),
    "q18": Query(
        keys=("bidder", "auction"),
        sql="""
        SELECT auction, bidder, last.* FROM (
          SELECT auction, bidder,
                 max_by(struct(price, channel, url, date_time, extra), date_time) AS last
          FROM bid GROUP BY bidder, auction)""",
    ),
    "q19": Query(
        keys=("auction", "rank_number"),
        sql="""
        SELECT auction, top.bid.*, cast(top.place + 1 AS BIGINT) AS rank_number FROM (
          SELECT auction, posexplode(highest) AS (place, bid) FROM (
            SELECT auction, max_by(struct(bidder, price, channel, url, date_time, extra), price, 10)
                   AS highest
            FROM bid GROUP BY auction)) AS top""",
    ),
    "q20": Query(
        reads=("auction", "bid"),
        sql="""
        SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time,
               b.extra AS bid_extra, a.item_name, a.description, a.initial_bid, a.reserve,
               a.date_time AS auction_date_time, a.expires, a.seller, a.category,
               a.extra AS auction_extra
        FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10""",
    ),
    "q21": Query(
        sql=f"""
        SELECT * FROM (
          SELECT auction, bidder, price, channel, coalesce({_KNOWN}, {_CHANNEL_ID}) AS channel_id
          FROM bid)
        WHERE channel_id IS NOT NULL"""
    ),
    "q22": Query(
        sql=f"""
        SELECT auction, bidder, price, channel, {_PARTS} FROM (
          SELECT *, split(url, '/') AS parts FROM bid)"""
    ),
}
