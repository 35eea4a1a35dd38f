-- The auctions with the most bids in the last 10 seconds, every 2 seconds.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, num, starttime, endtime
  FROM (
    SELECT auction, num, FROM_UNIXTIME(WINDOWSTART) AS starttime,
           FROM_UNIXTIME(WINDOWEND) AS endtime,
           RANK() OVER (PARTITION BY WINDOWSTART ORDER BY num DESC) AS place
    FROM (
      SELECT auction, COUNT(*) AS num FROM bid
      WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 2 SECONDS) GROUP BY auction
    )
  )
  WHERE place = 1 EMIT FINAL;
