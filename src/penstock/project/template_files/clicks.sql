-- Clicks as they come, and how many each page has had.

CREATE STREAM clicks (page VARCHAR, person VARCHAR)
  WITH (KAFKA_TOPIC='clicks', VALUE_FORMAT='JSON', PARTITIONS=2);

CREATE TABLE clicks_by_page WITH (KAFKA_TOPIC='clicks_by_page') AS
  SELECT page, COUNT(*) AS clicks FROM clicks GROUP BY page;
