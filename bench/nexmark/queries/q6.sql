-- The average of the winning bids of the last 10 auctions of each seller.
CREATE TABLE results WITH (KAFKA_TOPIC='${results}') AS
  SELECT seller, AVG(price) AS avg_price
  FROM (
    SELECT seller, price,
           ROW_NUMBER() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) AS place
    FROM (
      SELECT a.id, a.seller, a.expires, MAX(b.price) AS price
      FROM auction a JOIN bid b
        ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
      GROUP BY a.id, a.seller, a.expires
    )
  )
  WHERE place <= 10
  GROUP BY seller;
