-- Page views by region and minute, as KSQL says it. Topics `pageviews` and `users` are there.

CREATE STREAM pageviews
(viewtime BIGINT,
userid VARCHAR,
pageid VARCHAR)
WITH (KAFKA_TOPIC='pageviews',
VALUE_FORMAT='DELIMITED',
KEY='pageid',
TIMESTAMP='viewtime');

CREATE TABLE users
  (registertime BIGINT,
   gender VARCHAR,
   age INT,
   regionid VARCHAR,
   userid VARCHAR,
   interests array<VARCHAR>,
   contactinfo map<VARCHAR, VARCHAR>)
WITH (KAFKA_TOPIC='users',
      VALUE_FORMAT='JSON',
      KEY = 'userid');

CREATE STREAM pageviews_transformed
  WITH (TIMESTAMP='viewtime', PARTITIONS=5, VALUE_FORMAT='JSON') AS
  SELECT viewtime,
         userid,
         pageid,
         TIMESTAMPTOSTRING(viewtime, 'yyyy-MM-dd HH:mm:ss.SSS') AS timestring
  FROM pageviews
  WHERE userid='User_1' OR userid='User_2'
  PARTITION BY userid;

CREATE STREAM pageviews_enriched AS
  SELECT pv.viewtime,
         pv.userid AS userid,
         pv.pageid,
         pv.timestring,
         u.gender,
         u.age,
         u.regionid,
         u.interests,
         u.contactinfo
  FROM pageviews_transformed pv
  LEFT JOIN users u ON pv.userid = u.userid;

CREATE TABLE pageviews_per_region_per_minute AS
  SELECT regionid,
         count(*) FROM pageviews_enriched
  WINDOW TUMBLING (SIZE 1 MINUTE)
  GROUP BY regionid;

CREATE STREAM visitors WITH (kafka_topic=visitors, value_format='delimited')
AS SELECT age FROM pageviews_enriched;
