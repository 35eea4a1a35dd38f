-- Who sells in category 10 in Oregon, Idaho and California: whenever either came.
CREATE STREAM results WITH (KAFKA_TOPIC='${results}') AS
  SELECT p.name, p.city, p.state, a.id AS id
  FROM auction a JOIN person p WITHIN 3650 DAYS ON a.seller = p.id
  WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')
  PARTITION BY NULL;
