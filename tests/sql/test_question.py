from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.log.producer import Producer
from tests.sql.kit import ORDERS, PEOPLE, answers, followed, opened, rows, told

EARLIEST = "SET 'auto.offset.reset' = 'earliest';"


def test_rows_are_followed_from_the_beginning_up_to_a_limit(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{EARLIEST}")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1), ('b', 'y', 2), ('c', 'z', 3);")
        query = "SELECT id, amount * 10 AS ten FROM orders WHERE amount > 1 EMIT CHANGES"
        assert followed(session, f"{query};") == [("b", 20), ("c", 30)]
        assert followed(session, f"{query} LIMIT 1;") == [("b", 20)]


def test_rows_are_followed_from_now_on_unless_it_is_said(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        (answer,) = answers(session, "SELECT id FROM orders EMIT CHANGES;")
        coming = iter(answer.rows)  # type: ignore[union-attr]
        assert next(coming) is None
        told(session, "INSERT INTO orders VALUES ('b', 'x', 1);")
        assert next(row for row in coming if row is not None) == ("b",)


def test_a_join_is_followed_with_the_table_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{PEOPLE}{EARLIEST}")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        told(session, "INSERT INTO people VALUES ('a', 'Ada');")
        found = followed(
            session,
            "SELECT o.id, p.name FROM orders o JOIN people p ON o.id = p.id EMIT CHANGES;",
        )
        assert found == [("a", "Ada")]


def test_a_count_is_followed_change_by_change(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{EARLIEST}")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        told(session, "INSERT INTO orders VALUES ('b', 'x', 1);")
        query = "SELECT item, COUNT(*) AS n FROM orders GROUP BY item EMIT CHANGES;"
        assert followed(session, query)[-1] == ("x", 2)


def test_what_a_table_has_deleted_is_not_in_the_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, PEOPLE)
        told(session, "INSERT INTO people VALUES ('a', 'Ada'), ('b', 'Bob');")
        with open_log(tmp_path) as log:
            producer = Producer(log)
            producer.send("people", None, key=b"a")
            producer.close()
        assert rows(session, "SELECT * FROM people;") == [("b", "Bob")]


def test_records_are_printed_as_they_are(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        told(session, "INSERT INTO orders (ROWTIME, id, amount) VALUES (7, 'a', 1), (8, 'b', 2);")
        first, second = followed(session, "PRINT orders FROM BEGINNING;")
        assert first == (7, 0, 0, "a", '{"ITEM":null,"AMOUNT":1}')
        assert followed(session, "PRINT orders FROM BEGINNING INTERVAL 2;") == [first]
        assert followed(session, "PRINT orders FROM BEGINNING LIMIT 1;") == [first]
        assert followed(session, "PRINT orders;") == []
        assert second[:4] == (8, 0, 1, "b")
        with pytest.raises(SqlError, match="SQL_TOPIC_MISSING"):
            followed(session, "PRINT nothing;")


def test_bytes_that_are_no_text_are_printed_in_digits(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, ORDERS)
        with open_log(tmp_path) as log:
            producer = Producer(log)
            producer.send("orders", b"\xff\x00", key=None, timestamp=1)
            producer.close()
        assert followed(session, "PRINT orders FROM BEGINNING;") == [(1, 0, 0, None, "0xff00")]
