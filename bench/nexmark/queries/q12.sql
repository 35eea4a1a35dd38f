-- How many bids a person makes in each 10 seconds of the clock.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT bidder, COUNT(*) AS bid_count, FROM_UNIXTIME(WINDOWSTART) AS starttime,
         FROM_UNIXTIME(WINDOWEND) AS endtime
  FROM bid WINDOW TUMBLING (SIZE 10 SECONDS, BY PROCESSING TIME) GROUP BY bidder
  EMIT WHEN CLOSED;
