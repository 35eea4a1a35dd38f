"""What each query of Nexmark asks, in DuckDB's SQL over all events at once: no engine of streams.

The columns are those of the sink in Flink's Nexmark. `closes_at`, where there is one, is the end of
the window of a row; it is no column of the answer, but tells which rows may still be to come.
"""

from __future__ import annotations

from dataclasses import dataclass

_BIDS = ("bid",)
_SALES = ("auction", "bid")

_RANKED = """
  count(*) AS total_bids,
  count(*) FILTER (price < 10000) AS rank1_bids,
  count(*) FILTER (price >= 10000 AND price < 1000000) AS rank2_bids,
  count(*) FILTER (price >= 1000000) AS rank3_bids"""
_DISTINCT = "".join(
    f""",
  count(DISTINCT {column}) AS total_{name},
  count(DISTINCT {column}) FILTER (price < 10000) AS rank1_{name},
  count(DISTINCT {column}) FILTER (price >= 10000 AND price < 1000000) AS rank2_{name},
  count(DISTINCT {column}) FILTER (price >= 1000000) AS rank3_{name}"""
    for column, name in (("bidder", "bidders"), ("auction", "auctions"))
)
_WON = """
  SELECT a.*, b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
  FROM auction a JOIN bid b
    ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires"""
_HOP = """
  SELECT auction, starttime, starttime + INTERVAL 10 SECOND AS endtime, sum(n)::BIGINT AS num
  FROM (
    SELECT auction, unnest([pane - INTERVAL 1 SECOND * 2 * k FOR k IN range(5)]) AS starttime, n
    FROM (
      SELECT auction, time_bucket(INTERVAL 2 SECOND, date_time) AS pane, count(*) AS n
      FROM bid GROUP BY ALL)
  ) GROUP BY auction, starttime"""
_CHANNEL_ID = "regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One query: what it reads, its batch answer, and how a result is compared with it."""

    title: str
    sql: str
    reads: tuple[str, ...] = _BIDS
    optional: tuple[str, ...] = ()
    """Columns that Flink's sink leaves out: compared where a result has them."""
    decided: tuple[str, ...] = ()
    """Where rows may tie: the columns that do not depend on which of them was taken."""
    candidates: str = ""
    """Where rows may tie: all rows that a result may choose from."""
    gathered: str = ""
    """What is made of a result before it is compared, where windows are by the clock."""


QUESTIONS = {
    "q0": Question(
        title="pass through", sql="SELECT auction, bidder, price, date_time, extra FROM bid"
    ),
    "q1": Question(
        title="currency conversion",
        sql="""
        SELECT auction, bidder, (0.908 * price)::DECIMAL(23, 3) AS price, date_time, extra
        FROM bid""",
    ),
    "q2": Question(title="selection", sql="SELECT auction, price FROM bid WHERE auction % 123 = 0"),
    "q3": Question(
        title="local items, a join",
        reads=("auction", "person"),
        sql="""
        SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
        WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')""",
    ),
    "q4": Question(
        title="average price of a category",
        reads=_SALES,
        sql=f"""
        SELECT category AS id, (sum(final) // count(*))::BIGINT AS final
        FROM (SELECT id, category, max(price) AS final FROM ({_WON}) GROUP BY id, category)
        GROUP BY category""",
    ),
    "q5": Question(
        title="hot items, sliding windows",
        optional=("starttime", "endtime"),
        sql=f"""
        WITH counted AS ({_HOP})
        SELECT auction, num, starttime, endtime, endtime AS closes_at FROM counted
        QUALIFY num = max(num) OVER (PARTITION BY starttime)""",
    ),
    "q6": Question(
        title="average of a seller's last 10 closed auctions",
        reads=_SALES,
        sql=f"""
        SELECT seller, (sum(price) // count(*))::BIGINT AS avg_price FROM (
          SELECT seller, price FROM (
            SELECT id, seller, expires, max(price) AS price FROM ({_WON}) GROUP BY ALL)
          QUALIFY row_number() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) <= 10)
        GROUP BY seller""",
    ),
    "q7": Question(
        title="highest bid of a window",
        sql="""
        SELECT b.auction, b.bidder, b.price, b.date_time, b.extra, w.ends AS closes_at
        FROM bid b JOIN (
          SELECT max(price) AS price,
                 time_bucket(INTERVAL 10 SECOND, date_time) + INTERVAL 10 SECOND AS ends
          FROM bid GROUP BY ends) w
        ON b.price = w.price AND b.date_time BETWEEN w.ends - INTERVAL 10 SECOND AND w.ends""",
    ),
    "q8": Question(
        title="new users, a windowed join",
        reads=("auction", "person"),
        sql="""
        SELECT p.id, p.name, p.stime, p.stime + INTERVAL 10 SECOND AS closes_at
        FROM (SELECT DISTINCT id, name, time_bucket(INTERVAL 10 SECOND, date_time) AS stime
              FROM person) p
        JOIN (SELECT DISTINCT seller, time_bucket(INTERVAL 10 SECOND, date_time) AS stime
              FROM auction) a
        ON p.id = a.seller AND p.stime = a.stime""",
    ),
    "q9": Question(
        title="winning bids",
        reads=_SALES,
        sql=f"""
        SELECT * FROM ({_WON})
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY price DESC, bid_date_time) = 1""",
        decided=("id", "price", "bid_date_time"),
        candidates=_WON,
    ),
    "q10": Question(
        title="log to a partitioned store",
        sql="""
        SELECT auction, bidder, price, date_time, extra,
               strftime(date_time, '%Y-%m-%d') AS dt, strftime(date_time, '%H:%M') AS hm
        FROM bid""",
    ),
    "q11": Question(
        title="user sessions",
        sql="""
        SELECT bidder, count(*) AS bid_count, min(date_time) AS starttime,
               max(date_time) + INTERVAL 10 SECOND AS endtime, endtime AS closes_at
        FROM (
          SELECT bidder, date_time,
                 sum(opens) OVER (PARTITION BY bidder ORDER BY date_time) AS session
          FROM (
            SELECT bidder, date_time,
                   (date_time - lag(date_time, 1, date_time)
                      OVER (PARTITION BY bidder ORDER BY date_time)
                    > INTERVAL 10 SECOND)::INT AS opens
            FROM bid))
        GROUP BY bidder, session""",
    ),
    "q12": Question(
        title="windows by the clock",
        sql="SELECT bidder, count(*) AS bid_count FROM bid GROUP BY bidder",
        gathered="SELECT bidder, sum(bid_count)::BIGINT AS bid_count FROM given GROUP BY bidder",
    ),
    "q13": Question(
        title="join with a table at rest",
        sql="""
        SELECT b.auction, b.bidder, b.price, b.date_time, s.value
        FROM bid b JOIN side s ON b.auction % 10000 = s.key""",
    ),
    "q14": Question(
        title="calculation",
        sql="""
        SELECT auction, bidder, (0.908 * price)::DECIMAL(23, 3) AS price,
               CASE WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
                    WHEN hour(date_time) <= 6 OR hour(date_time) >= 20 THEN 'nightTime'
                    ELSE 'otherTime' END AS bid_time_type,
               date_time, extra, length(extra) - length(replace(extra, 'c', '')) AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    ),
    "q15": Question(
        title="statistics of a day",
        sql=f"""
        SELECT strftime(date_time, '%Y-%m-%d') AS day, {_RANKED}{_DISTINCT}
        FROM bid GROUP BY day""",
    ),
    "q16": Question(
        title="statistics of a channel",
        sql=f"""
        SELECT channel, strftime(date_time, '%Y-%m-%d') AS day,
               max(strftime(date_time, '%H:%M')) AS minute, {_RANKED}{_DISTINCT}
        FROM bid GROUP BY channel, day""",
    ),
    "q17": Question(
        title="statistics of an auction",
        sql=f"""
        SELECT auction, strftime(date_time, '%Y-%m-%d') AS day, {_RANKED},
               min(price) AS min_price, max(price) AS max_price,
               (sum(price) // count(*))::BIGINT AS avg_price, sum(price)::BIGINT AS sum_price
        FROM bid GROUP BY auction, day""",
    ),
    "q18": Question(
        title="last bid of a bidder",
        sql="""
        SELECT auction, bidder, price, channel, url, date_time, extra FROM bid
        QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC) = 1""",
        decided=("auction", "bidder", "date_time"),
        candidates="SELECT * FROM bid",
    ),
    "q19": Question(
        title="the 10 highest bids of an auction",
        sql="""
        SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
        FROM bid QUALIFY rank_number <= 10""",
        decided=("auction", "price", "rank_number"),
        candidates="SELECT * FROM bid",
    ),
    "q20": Question(
        title="bids with their auction",
        reads=_SALES,
        sql="""
        SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time,
               b.extra AS bid_extra, a.item_name, a.description, a.initial_bid, a.reserve,
               a.date_time AS auction_date_time, a.expires, a.seller, a.category,
               a.extra AS auction_extra
        FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10""",
    ),
    "q21": Question(
        title="channel id, a pattern",
        sql=f"""
        SELECT auction, bidder, price, channel,
               CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1'
                 WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3' ELSE {_CHANNEL_ID} END
               AS channel_id
        FROM bid WHERE channel_id <> ''""",
    ),
    "q22": Question(
        title="parts of the address",
        sql="""
        SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1,
               split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3
        FROM bid""",
    ),
}
