from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import OffsetError, SqlError
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS, followed, opened, rows, told

THREE = "INSERT INTO orders (ROWTIME, id, amount) VALUES (1000, 'a', 1), (2000, 'b', 2);"
LATER = "INSERT INTO orders (ROWTIME, id, amount) VALUES (3000, 'c', 3);"
FIRST = [("a", 1), ("b", 2), ("c", 3)]


def _filled(home: Path) -> SqlSession:
    session = SqlSession(home, here=True)
    told(session, ORDERS)
    told(session, THREE + LATER)
    return session


STARTS = {
    "FROM BEGINNING": FIRST,
    "FROM LATEST": [],
    "FROM '1970-01-01T00:00:01.500'": FIRST[1:],
    "FROM '1970-01-01T00:00:03Z'": FIRST[2:],
    "FROM '1970-01-01T00:00:04'": [],
    "FROM OFFSET 1": FIRST[1:],
    "FROM OFFSET 3": [],
}


def test_a_question_begins_where_it_says(tmp_path: Path) -> None:
    with _filled(tmp_path) as session:
        for start, wanted in STARTS.items():
            question = f"SELECT id, amount FROM orders {start}"
            assert rows(session, f"{question};") == wanted
            assert rows(session, f"{question} ORDER BY id;") == wanted
            assert followed(session, f"{question} EMIT CHANGES;") == wanted


def test_a_query_that_runs_on_begins_where_it_says(tmp_path: Path) -> None:
    with _filled(tmp_path) as session:
        queries = {
            "time": ("FROM '1970-01-01T00:00:01.500'", FIRST[1:]),
            "latest": ("EMIT CHANGES FROM LATEST", []),
            "offset": ("FROM OFFSET 2 EMIT CHANGES", FIRST[2:]),
        }
        for name, (start, _) in queries.items():
            told(session, f"CREATE STREAM by_{name} AS SELECT * FROM orders {start};")
        told(session, "INSERT INTO orders VALUES ('d', '', 4);")
        for name, (_, wanted) in queries.items():
            assert rows(session, f"SELECT id, amount FROM by_{name};") == [*wanted, ("d", 4)]


def test_what_comes_after_a_query_was_written_down_is_read_whenever_it_runs(tmp_path: Path) -> None:
    with opened(tmp_path) as writing:
        told(writing, ORDERS)
        told(writing, THREE)
        told(writing, "CREATE STREAM later AS SELECT * FROM orders FROM LATEST;")
        told(writing, "SET 'auto.offset.reset' = 'latest';")
        told(writing, "CREATE STREAM also AS SELECT * FROM orders;")
        told(writing, LATER)
    with opened(tmp_path, here=True) as running:
        running.catch_up()
        assert rows(running, "SELECT id, amount FROM later;") == FIRST[2:]
        assert rows(running, "SELECT id, amount FROM also;") == FIRST[2:]


def test_a_question_that_can_begin_nowhere_is_refused(tmp_path: Path) -> None:
    with _filled(tmp_path) as session:
        told(session, "CREATE TABLE counted AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;")
        for question in (
            "SELECT id FROM orders FROM 'yesterday';",
            "SELECT id FROM counted FROM LATEST;",
            "SELECT COUNT(*) FROM counted FROM OFFSET 1;",
        ):
            with pytest.raises(SqlError, match="SQL_START"):
                rows(session, question)
        with pytest.raises(OffsetError, match="OFFSET_RANGE"):
            rows(session, "SELECT id FROM orders FROM OFFSET 4;")


def test_a_table_is_read_whole_where_a_stream_is_joined_to_it(tmp_path: Path) -> None:
    with _filled(tmp_path) as session:
        told(session, "CREATE TABLE counted AS SELECT id, COUNT(*) AS n FROM orders GROUP BY id;")
        told(
            session,
            "CREATE STREAM both AS SELECT orders.id AS id, amount, n FROM orders"
            " JOIN counted ON orders.id = counted.id FROM LATEST;",
        )
        told(session, "INSERT INTO orders VALUES ('a', '', 9);")
        found = rows(session, "SELECT id, amount FROM both;")
    assert found == [("a", 9)]
