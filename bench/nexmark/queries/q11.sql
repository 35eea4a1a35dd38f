-- How many bids a person makes in each session of activity.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT bidder, COUNT(*) AS bid_count, FROM_UNIXTIME(WINDOWSTART) AS starttime,
         FROM_UNIXTIME(WINDOWEND + 10000) AS endtime
  FROM bid WINDOW SESSION (10 SECONDS) GROUP BY bidder
  EMIT WHEN CLOSED;
