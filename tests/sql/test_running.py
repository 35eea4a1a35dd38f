from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.sql.running import Running, catch_up
from tests.sql.kit import ORDERS, PEOPLE, opened, rows, told

JOINED = (
    "CREATE STREAM joined AS SELECT o.id AS id, p.name AS name"
    " FROM orders o LEFT JOIN people p ON o.id = p.id;"
)


def test_a_query_begins_with_tables_as_they_are(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{PEOPLE}")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        told(session, "INSERT INTO people VALUES ('a', 'Ada');")
        told(session, JOINED)
        queries = list(session.definitions().queries.values())
        catch_up(tmp_path, queries)
        catch_up(tmp_path, queries)
        assert rows(session, "SELECT * FROM joined;") == [("a", "Ada")]


def test_queries_run_until_they_are_stopped_and_nobody_else_runs_them(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}CREATE STREAM copy AS SELECT * FROM orders;")
        queries = list(session.definitions().queries.values())
        running, other = Running(tmp_path), Running(tmp_path)
        running.follow(queries)
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        deadline = time.monotonic() + 20
        while not rows(session, "SELECT * FROM copy;"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        other.follow(queries)
        other.stop()
        running.stop()
        assert rows(session, "SELECT id FROM copy;") == [("a",)]
        assert running.failures() == {}


def test_a_query_that_fails_says_why(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}CREATE STREAM copy AS SELECT * FROM orders;")
        queries = list(session.definitions().queries.values())
        told(session, "DROP STREAM copy DELETE TOPIC;")
        told(session, "DROP STREAM orders DELETE TOPIC;")
    running = Running(tmp_path)
    running.follow(queries)
    deadline = time.monotonic() + 20
    while not running.failures():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (failure,) = running.failures().values()
    assert '"orders"' in str(failure)
    running.stop()


def test_windows_follow_the_column_that_tells_the_time(tmp_path: Path) -> None:
    views = (
        "CREATE STREAM views (page STRING KEY, at_ms BIGINT)"
        " WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON', PARTITIONS=1, TIMESTAMP='at_ms');"
        "CREATE TABLE counted AS SELECT page, COUNT(*) AS n FROM views"
        " WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 1 HOUR) GROUP BY page;"
    )
    with opened(tmp_path, here=True) as session:
        told(session, views)
        # The log takes them today: by that time the window of the second would be long over.
        told(session, "INSERT INTO views VALUES ('a', 1413215518000);")
        told(session, "INSERT INTO views VALUES ('a', 1413215519000);")
        told(session, "INSERT INTO views VALUES ('a', 1413225519000);")
        told(session, "INSERT INTO views VALUES ('a', 1413215519001);")
        found = rows(session, "SELECT windowstart, n FROM counted ORDER BY windowstart;")
        assert found == [(1413215460000, 2), (1413225480000, 1)]


def test_a_query_that_has_read_all_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}CREATE STREAM copy AS SELECT * FROM orders;")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        queries = list(session.definitions().queries.values())
        catch_up(tmp_path, queries)
        monkeypatch.setattr("penstock.sql.running.run_of", None)
        catch_up(tmp_path, queries)
