from __future__ import annotations

from tests.front.sql.script import Script

VIEWS = """
CREATE STREAM pageviews (viewtime BIGINT, userid VARCHAR, pageid VARCHAR)
  WITH (KAFKA_TOPIC='pageviews', VALUE_FORMAT='JSON', KEY='pageid', TIMESTAMP='viewtime');
CREATE TABLE users (gender VARCHAR, regionid VARCHAR, userid VARCHAR, interests array<VARCHAR>,
  contactinfo map<VARCHAR, VARCHAR>)
  WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON', KEY = 'userid');
CREATE STREAM viewed WITH (TIMESTAMP='viewtime', PARTITIONS=5, VALUE_FORMAT='JSON') AS
  SELECT viewtime, userid, pageid,
    TIMESTAMPTOSTRING(viewtime, 'yyyy-MM-dd HH:mm:ss.SSS') AS timestring
  FROM pageviews WHERE userid='User_1' OR userid='User_2' PARTITION BY userid;
"""
ENRICHED = """
CREATE STREAM enriched AS
  SELECT pv.viewtime, pv.userid AS userid, pv.pageid, pv.timestring, u.gender, u.regionid,
    u.interests, u.contactinfo
  FROM viewed pv LEFT JOIN users u ON pv.userid = u.userid;
"""
REGIONS = """
CREATE TABLE regions AS
  SELECT regionid, count(*) FROM enriched WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY regionid;
"""


def test_a_stream_with_an_old_key_is_partitioned_by_a_column() -> None:
    script = Script(VIEWS)
    view = {"viewtime": 60_000, "userid": "User_1", "pageid": "p"}
    (made,) = script.push("pageviews", "p", view)
    told = {"VIEWTIME": 60_000, "PAGEID": "p", "TIMESTRING": "1970-01-01 00:01:00.000"}
    assert made == (b"User_1", told, 60_000)
    assert script.push("pageviews", "p", {**view, "userid": "User_3"}) == []


def test_a_table_with_an_old_key_is_found_by_it() -> None:
    script = Script(VIEWS + ENRICHED)
    user = {"userid": "User_1", "regionid": "r", "interests": ["a"], "contactinfo": {"b": "c"}}
    script.push("users", "User_1", user)
    ((key, value, _),) = script.push("VIEWED", "User_1", {"VIEWTIME": 1, "PAGEID": "p"})
    assert key == b"User_1"
    assert (value["REGIONID"], value["INTERESTS"], value["GENDER"]) == ("r", ["a"], None)


def test_an_aggregate_needs_no_emit() -> None:
    script = Script(VIEWS + ENRICHED + REGIONS)
    ((key, value, time),) = script.push("ENRICHED", "User_1", {"REGIONID": "r"}, 61_000)
    assert key == b"r" + (60_000).to_bytes(8, "big")
    assert (value, time) == ({"KSQL_COL_0": 1}, 61_000)
