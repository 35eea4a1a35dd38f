"""The six KSQL statements of the course (V20), which tests run in several places.

They stand as they were, but for the names by which they refer to one another, and what the last
one selects. They need the order Q1, Q2, Q3, Q5, Q4, Q6.
"""

from __future__ import annotations

Q1 = """
CREATE STREAM pageviews
(viewtime BIGINT,
userid VARCHAR,
pageid VARCHAR)
WITH (KAFKA_TOPIC='pageviews',
VALUE_FORMAT='DELIMITED',
KEY='pageid',
TIMESTAMP='viewtime');
"""
Q2 = """
CREATE TABLE users
  (registertime BIGINT,
   gender VARCHAR,
   regionid VARCHAR,
   userid VARCHAR,
   interests array<VARCHAR>,
   contactinfo map<VARCHAR, VARCHAR>)
WITH (KAFKA_TOPIC='users',
      VALUE_FORMAT='JSON',
      KEY = 'userid');
"""
Q3 = """
CREATE STREAM pageviews_transformed
  WITH (TIMESTAMP='viewtime', PARTITIONS=5, VALUE_FORMAT='JSON') AS
  SELECT viewtime,
         userid,
         pageid,
         TIMESTAMPTOSTRING(viewtime, 'yyyy-MM-dd HH:mm:ss.SSS') AS timestring
  FROM pageviews
  WHERE userid='User_1' OR userid='User_2'
  PARTITION BY userid;
"""
Q4 = """
CREATE TABLE pageviews_per_region_per_minute AS
  SELECT regionid,
         count(*) FROM pageviews_enriched
  WINDOW TUMBLING (SIZE 1 MINUTE)
  GROUP BY regionid;
"""
Q5 = """
CREATE STREAM pageviews_enriched AS
  SELECT pv.viewtime,
         pv.userid AS userid,
         pv.pageid,
         pv.timestring,
         u.gender,
         u.regionid,
         u.interests,
         u.contactinfo
  FROM pageviews_transformed pv
  LEFT JOIN users u ON pv.userid = u.userid;
"""
Q6 = """
CREATE STREAM visitors WITH (kafka_topic=visitors, value_format='delimited')
AS SELECT {} FROM pageviews_enriched;
"""
AGED = {"gender VARCHAR,": "gender VARCHAR,\n   age INT,", "u.gender,": "u.gender, u.age,"}
"""What the statements lack for the last one to select the age of a visitor."""


def statements(selected: str) -> str:
    """Give all six in the order that they need; the last one selects these columns."""
    return "".join((Q1, Q2, Q3, Q5, Q4, Q6.format(selected)))


def aged(text: str) -> str:
    """Let users have an age, and views that of their user."""
    for without, with_age in AGED.items():
        text = text.replace(without, with_age)
    return text
