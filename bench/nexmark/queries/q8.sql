-- New persons who opened auctions in the same 10 seconds.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT p.id AS id, p.name AS name, FROM_UNIXTIME(p.ROWTIME - p.ROWTIME % 10000) AS stime
  FROM person p SEMI JOIN auction a WITHIN TUMBLING (SIZE 10 SECONDS) ON p.id = a.seller
  PARTITION BY NULL;
