-- Pass on all bids as they are.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, price, date_time, extra FROM bid;
