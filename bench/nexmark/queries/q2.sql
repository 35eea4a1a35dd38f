-- The bids on some auctions.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, price FROM bid WHERE auction % 123 = 0;
