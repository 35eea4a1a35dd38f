-- The 10 highest bids of each auction.
CREATE TABLE results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, price, channel, url, date_time, extra, rank_number
  FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
    FROM bid
  )
  WHERE rank_number <= 10;
