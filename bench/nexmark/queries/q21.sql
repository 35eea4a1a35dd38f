-- The number of the channel, of its name or of the address.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT auction, bidder, price, channel, channel_id FROM (
    SELECT auction, bidder, price, channel,
           CASE WHEN LCASE(channel) = 'apple' THEN '0' WHEN LCASE(channel) = 'google' THEN '1'
                WHEN LCASE(channel) = 'facebook' THEN '2' WHEN LCASE(channel) = 'baidu' THEN '3'
                ELSE REGEXP_EXTRACT('(&|^)channel_id=([^&]*)', url, 2) END AS channel_id
    FROM bid)
  WHERE channel_id IS NOT NULL;
