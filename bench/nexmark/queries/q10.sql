-- All bids, with the day and the minute by which a store keeps them apart.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, price, date_time, extra,
         FORMAT_TIMESTAMP(date_time, 'yyyy-MM-dd') AS dt, FORMAT_TIMESTAMP(date_time, 'HH:mm') AS hm
  FROM bid;
