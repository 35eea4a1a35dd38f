-- Each bid with what a table at rest says of it.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT b.auction AS auction, b.bidder AS bidder, b.price AS price, b.date_time AS date_time,
         s.value AS value
  FROM bid b JOIN '${side}' s ON b.auction % 10000 = s.key;
