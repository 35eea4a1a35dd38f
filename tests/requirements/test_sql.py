"""The six KSQL statements of the course as they stand, after their traps, and what they give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.log.rows import rows_of_bytes
from penstock.sql.session import SqlSession
from tests.sql.kit import followed, make_topics, opened, rows, told
from tests.sql.page_views import Q1, Q2, Q3, Q4, Q5, Q6

FIRST = 1_413_215_518_000
VIEWS = (
    (0, "User_1", "a"),
    (1_000, "User_2", "b"),
    (2_000, "User_3", "a"),
    (120_000, "User_1", "c"),
)
USERS = (("User_1", "gone"), ("User_1", "North"), ("User_2", "South"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home on which the statements have run over a few views and users."""
    home = tmp_path_factory.mktemp("ksql")
    make_topics(home, "pageviews", "users")
    users = [
        f'{{"gender": "x", "regionid": "{region}", "userid": "{user}", "interests": ["tea"],'
        f' "contactinfo": {{"city": "Rome"}}}}'
        for user, region in USERS
    ]
    write(home, "users", [user for user, _ in USERS], users)
    with opened(home, here=True) as session:
        for statement in (Q1, Q2, Q3, Q5, Q4, Q6.format("userid, pageid")):
            told(session, statement)
        session.catch_up()
        views = [f"{FIRST + late},{user},{page}" for late, user, page in VIEWS]
        write(home, "pageviews", [page for _, _, page in VIEWS], views)
        session.catch_up()
    return home


@pytest.fixture(scope="module")
def session(home: Path) -> Iterator[SqlSession]:
    with opened(home) as session:
        yield session


def write(home: Path, topic: str, keys: list[str], values: list[str]) -> None:
    with open_log(home) as log:
        rows = rows_of_bytes(
            [value.encode() for value in values], keys=[key.encode() for key in keys]
        )
        log.append(topic, 0, rows)


def records(home: Path, topic: str) -> list[tuple[int, bytes, bytes]]:
    """The records of a topic: partition, key and value."""
    found = []
    with open_log(home) as log:
        for partition in range(log.topic(topic).partitions):
            chunk = log.read(topic, partition, 0, ReadLimit())
            frame = pl.DataFrame(pl.from_arrow(chunk.rows)).select(KEY_COLUMN, VALUE_COLUMN)
            found += [(partition, key, value) for key, value in frame.iter_rows()]
    return found


def test_f01_a_stream_over_a_topic_gives_its_rows(session: SqlSession) -> None:
    found = rows(session, "SELECT userid, pageid, viewtime FROM pageviews;")
    assert found == [(user, page, FIRST + late) for late, user, page in VIEWS]


def test_f02_a_table_has_the_last_record_of_a_key(session: SqlSession) -> None:
    found = rows(session, "SELECT userid, regionid FROM users;")
    assert sorted(found) == [("User_1", "North"), ("User_2", "South")]


def test_f03_f05_f06_f07_a_derived_stream_holds_what_where_keeps_by_its_key(
    home: Path, session: SqlSession
) -> None:
    found = records(home, "PAGEVIEWS_TRANSFORMED")
    assert sorted(key for _, key, _ in found) == [b"User_1", b"User_1", b"User_2"]
    places = {(key, partition) for partition, key, _ in found}
    assert len(places) == 2
    facts = dict(rows(session, "DESCRIBE pageviews_transformed EXTENDED;"))
    assert facts["partitions"] == 5


def test_f04_a_time_is_written_by_a_pattern(session: SqlSession) -> None:
    text = f"SELECT timestring FROM pageviews_transformed WHERE viewtime = {FIRST};"
    assert rows(session, text) == [("2014-10-13 15:51:58.000",)]


def test_f08_f10_f13_f17_windows_follow_event_time_over_the_whole_chain(
    session: SqlSession,
) -> None:
    found = rows(session, "SELECT * FROM pageviews_per_region_per_minute;")
    minute = FIRST - FIRST % 60_000
    assert sorted((row[0], row[1], row[-1]) for row in found) == [
        ("North", minute, 1),
        ("North", minute + 120_000, 1),
        ("South", minute, 1),
    ]


def test_f09_the_key_of_the_topic_is_the_column_named(home: Path) -> None:
    assert [key for _, key, _ in records(home, "pageviews")] == [b"a", b"b", b"a", b"c"]


def test_f11_hopping_windows_overlap(session: SqlSession) -> None:
    text = (
        "SELECT pageid, COUNT(*) AS n FROM pageviews WINDOW HOPPING (SIZE 2 MINUTES, ADVANCE BY"
        " 1 MINUTE) GROUP BY pageid EMIT CHANGES FROM BEGINNING;"
    )
    found = [row for row in followed(session, text) if row[0] == "b"]
    assert len(found) == 2


def test_f12_sessions_merge(session: SqlSession) -> None:
    text = (
        "SELECT pageid, COUNT(*) AS n FROM pageviews WINDOW SESSION (30 SECONDS) GROUP BY pageid"
        " EMIT CHANGES FROM BEGINNING;"
    )
    assert ("a", 2) in [(row[0], row[-1]) for row in followed(session, text)]


def test_f14_a_query_is_written_to_a_named_topic_in_another_format(home: Path) -> None:
    assert sorted(value for _, _, value in records(home, "visitors")) == [b"a", b"b", b"c"]


def test_f15_a_column_that_is_not_there_is_named(session: SqlSession) -> None:
    with pytest.raises(SqlError) as caught:
        told(session, Q6.format("age").replace("visitors", "others"))
    assert caught.value.code == "SQL_COLUMN_MISSING"
    assert "AGE" in caught.value.fact


def test_f16_rows_of_a_stream_are_followed(session: SqlSession) -> None:
    text = "SELECT pageid FROM pageviews EMIT CHANGES FROM BEGINNING;"
    assert followed(session, text) == [("a",), ("b",), ("a",), ("c",)]


def test_f18_what_runs_is_shown_described_and_terminated(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(
            session,
            "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);",
        )
        told(session, "CREATE STREAM t AS SELECT a + 1 AS b FROM s;")
        (query,) = [row[0] for row in rows(session, "SHOW QUERIES;")]
        assert {row[0] for row in rows(session, "SHOW STREAMS;")} == {"S", "T"}
        assert rows(session, "SHOW TABLES;") == []
        assert rows(session, "DESCRIBE t;")[0][:2] == ("B", "INTEGER")
        told(session, f"TERMINATE {query};")
        assert rows(session, "SHOW QUERIES;") == []


def test_f20_a_stream_appends_and_a_table_replaces(session: SqlSession) -> None:
    stream = rows(session, "SELECT userid FROM pageviews_transformed WHERE userid = 'User_1';")
    table = rows(session, "SELECT userid FROM users WHERE userid = 'User_1';")
    assert (len(stream), len(table)) == (2, 1)
