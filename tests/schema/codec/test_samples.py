"""The customer's own data, read with its damage (requirements B14, B15, B17 to B21)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.schema.codec.kit import codec, decode, read, written

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
USER = (
    "struct<screen_name: string, name: string, followers_count: bigint, friends_count: bigint, "
    "listed_count: bigint, favourites_count: bigint, statuses_count: bigint, utc_offset: int, "
    "created_at: timestamp, geo_enabled: boolean, url: string>"
)
TWEET = {
    "created_at": "timestamp",
    "id": "varchar",
    "text": "varchar",
    "truncated": "boolean",
    # An object out here and an array in the retweet: as text it is both.
    "entities": "struct<hashtags: array<string>, user_mentions: string>",
    "source": "varchar",
    "in_reply_to_status_id": "bigint",
    "user": USER,
    "retweet_count": "bigint",
    "retweeted_status": f"struct<created_at: timestamp, text: string, retweet_count: bigint, "
    f"favorite_count: bigint, lang: string, entities: struct<user_mentions: string>, user: {USER}>",
}


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["alone", "among others", "with maps"])
def test_a_tweet_is_read_with_all_its_traps(form: str) -> None:
    columns = {**TWEET, "geo": "map<string>"} if form == "with maps" else TWEET
    values = [sample("tweet.json")] * (1 if form == "alone" else 30)
    tweet = read(codec("json(timestamp=twitter)", columns), *values)[-1]
    assert tweet["created_at"] == datetime(2017, 5, 23, 17, 58, 20, tzinfo=UTC)
    assert tweet["id"] == "867077248448331776"
    assert "\n- Únicos 2 equipos" in tweet["text"]
    assert tweet["source"].startswith('<a href="http://twitter.com/download/android"')
    assert tweet["truncated"] is False
    assert tweet["in_reply_to_status_id"] is None
    user = tweet["user"]
    assert user["screen_name"] == "GoodbyeGodbless"
    assert user["created_at"] == datetime(2012, 1, 23, 0, 9, 53, tzinfo=UTC)
    counts = ("followers", "friends", "listed", "favourites", "statuses")
    assert [user[f"{name}_count"] for name in counts] == [280, 323, 23, 6647, 23451]
    retweeted = tweet["retweeted_status"]
    # The names are there twice, and the last wins; the tweet's own count was lost.
    assert (retweeted["favorite_count"], retweeted["retweet_count"]) == (0, 89)
    assert tweet["retweet_count"] is None
    assert retweeted["text"].endswith("jugu\x0e9 en playoffs.")
    assert [retweeted["user"][f"{name}_count"] for name in counts] == [
        4739191, 92, 11036, 119, 5622,
    ]  # fmt: skip
    assert retweeted["user"]["utc_offset"] == -18000
    assert json.loads(tweet["entities"]["user_mentions"])["screen_name"] == "manuginobili"
    assert retweeted["entities"]["user_mentions"] == "[]"


def test_a_page_view_without_quotes_is_read_where_asked_for() -> None:
    columns = {
        "eventType": "string",
        "timestamp": "timestamp",
        "ipAddress": "string",
        "sessionId": "string",
        "pageUrl": "string",
        "referrer": "string",
        "browser": "string",
    }
    value = sample("page_view_event.txt")
    assert read(codec("json(lenient=true, timestamp=seconds)", columns), value) == [
        {
            "eventType": "PageViewEvent",
            "timestamp": datetime(2014, 10, 13, 15, 51, 58, tzinfo=UTC),
            "ipAddress": "12.34.56.78",
            "sessionId": "106d2a521d3c6abcf36",
            "pageUrl": "/talks.html",
            "referrer": "google.com/search?q=...",
            "browser": "Chrome 39",
        }
    ]
    strict = decode(codec("json(timestamp=seconds)", columns), value)
    assert strict.failures[0].startswith("not JSON: ")


def test_an_access_log_keeps_its_damaged_lines_by_policy() -> None:
    lines = sample("access_log.txt").splitlines()
    null = decode(codec("pattern(name=access_log, damaged=null)"), *lines)
    assert null.failures == {}
    rows = null.rows.to_pylist()
    assert len(rows) == 20
    assert Counter(row["status"] for row in rows) == {200: 11, 304: 9}
    assert Counter(row["time"].minute for row in rows) == {7: 9, 8: 10, 9: 1}
    assert rows[0]["time"] == datetime(2014, 3, 23, 22, 7, tzinfo=UTC)
    assert Counter(row["path"] for row in rows)["/documentation.html"] == 3
    assert sum(row["size"] or 0 for row in rows) == 750176

    fail = decode(codec("pattern(name=access_log, damaged=fail)"), *lines)
    assert sorted(fail.failures) == [1, 3, 4, 6, 15]
    assert [why.split('"')[3] for _, why in sorted(fail.failures.items())] == [
        "8f", "268;", "4141;", "", "",
    ]  # fmt: skip
    kept = [row for n, row in enumerate(fail.rows.to_pylist()) if n not in fail.failures]
    assert kept == [row for n, row in enumerate(rows) if n not in fail.failures]


def test_a_tweet_is_written_in_one_shape_and_its_timeline_read_in_another() -> None:
    write = codec(
        "json(timestamp=seconds)",
        {"user_id": "bigint", "timestamp": "timestamp", "status": "string"},
    )
    rows = read(write, sample("tweet_written.json"))
    moment = datetime(2015, 1, 20, 18, 12, 58, tzinfo=UTC)
    assert rows == [{"user_id": 17055506, "timestamp": moment, "status": "Hello world!"}]
    assert written(write, rows) == [
        b'{"user_id":17055506,"timestamp":1421777578,"status":"Hello world!"}'
    ]

    tweets = (
        "array<struct<tweet_id: bigint, username: string, name: string, timestamp: timestamp, "
        "status: string, picture_url: string>>"
    )
    columns = {"timeline_id": "bigint", "tweets": tweets}
    timeline = codec("json(lenient=true, timestamp=seconds)", columns)
    (found,) = read(timeline, sample("timeline.txt"))
    assert found["timeline_id"] == 17055506
    assert [tweet["tweet_id"] for tweet in found["tweets"]] == [
        557595969962127360, 557515007622414337,
    ]  # fmt: skip
    assert found["tweets"][0]["timestamp"] == datetime(2015, 1, 20, 18, 5, 23, tzinfo=UTC)
    assert found["tweets"][1]["username"] == "Philip Potter"
    assert read(codec("json(timestamp=seconds)", columns), *written(timeline, [found])) == [found]
    assert list(decode(codec("json", columns), sample("timeline.txt")).failures) == [0]


def test_a_user_of_ksql_s_has_an_array_and_a_map() -> None:
    columns = {
        "registertime": "BIGINT",
        "gender": "VARCHAR",
        "regionid": "VARCHAR",
        "userid": "VARCHAR",
        "interests": "array<VARCHAR>",
        "contactinfo": "map<VARCHAR, VARCHAR>",
    }
    value = (
        '{"registertime":1493819497170,"gender":"FEMALE","regionid":"Region_2","userid":"User_1",'
        '"interests":["News","Travel"],"contactinfo":{"phone":"6502215368","city":"San Carlos"}}'
    )
    for spaced in (value, value.replace(":", ": "), value.replace('"interests"', '"INTERESTS"')):
        row = read(codec("json", columns), *[spaced] * 3)[-1]
        assert row["interests"] == ["News", "Travel"]
        assert row["contactinfo"] == [("phone", "6502215368"), ("city", "San Carlos")]
        assert row["registertime"] == 1493819497170


@pytest.mark.parametrize(
    ("text", "columns", "value"),
    [
        ("delimited", {"a": "bigint", "b": "string"}, "1,x"),
        ("json", {"a": "bigint"}, '{"a":1}'),
        ("string", None, "free text, as it came"),
        ("pattern(name=access_log)", None, sample("access_log.txt").splitlines()[0]),
        ("bytes", None, b"\0\xff"),
    ],
)
def test_what_is_structured_half_structured_and_not_structured_is_read(
    text: str, columns: dict[str, str] | None, value: str
) -> None:
    assert len(read(codec(text, columns), value)) == 1
