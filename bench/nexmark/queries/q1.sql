-- Prices in euros.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid;
