-- The average of the winning bids of each category; a bid that wins later takes the one before back.
CREATE TABLE results WITH (KAFKA_TOPIC='${results}') AS
  SELECT category AS id, AVG(final) AS final
  FROM (
    SELECT a.id, a.category, MAX(b.price) AS final
    FROM auction a JOIN bid b
      ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY a.id, a.category
  )
  GROUP BY category;
