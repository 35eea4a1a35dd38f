-- The highest bids of each 10 seconds.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, price, date_time, extra
  FROM (
    SELECT auction, bidder, price, date_time, extra,
           RANK() OVER (PARTITION BY WINDOWSTART ORDER BY price DESC) AS place
    FROM bid WINDOW TUMBLING (SIZE 10 SECONDS)
  )
  WHERE place = 1 EMIT FINAL;
