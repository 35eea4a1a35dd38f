-- The bids on auctions of category 10, with all that is known of these: whenever either came.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT b.auction AS auction, b.bidder AS bidder, b.price AS price, b.channel AS channel, b.url AS url,
         b.date_time AS bid_date_time, b.extra AS bid_extra,
         a.item_name AS item_name, a.description AS description, a.initial_bid AS initial_bid,
         a.reserve AS reserve, a.date_time AS auction_date_time, a.expires AS expires,
         a.seller AS seller, a.category AS category, a.extra AS auction_extra
  FROM bid b JOIN auction a WITHIN 3650 DAYS ON b.auction = a.id
  WHERE a.category = 10
  PARTITION BY NULL;
