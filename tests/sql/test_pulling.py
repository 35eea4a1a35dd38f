from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.log.producer import Producer
from penstock.sql.answer import Followed, Listed
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS, PEOPLE, answers, opened, rows, told


@pytest.fixture(name="session", scope="module")
def fixture_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlSession]:
    with opened(tmp_path_factory.mktemp("pulling")) as session:
        told(session, f"{ORDERS}{PEOPLE}")
        told(
            session,
            "INSERT INTO orders (ROWTIME, id, item, amount) VALUES (0, 'a', 'tea', 2),"
            " (59999, 'b', 'milk', 30), (60000, 'a', 'tea', 3), (7200000, 'c', NULL, 7);",
        )
        told(session, "INSERT INTO people VALUES ('a', 'Ada'), ('b', 'Bob'), ('d', 'Dan');")
        yield session


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT 1 + 1 AS two", [(2,)]),
        (
            "SELECT item, SUM(amount) AS n FROM orders GROUP BY item ORDER BY n DESC",
            [("milk", 30), (None, 7), ("tea", 5)],
        ),
        ("SELECT COUNT(*) AS n, MAX(amount) AS m FROM orders WHERE amount > 99", [(0, None)]),
        (
            "SELECT item, WINDOWSTART AS w, COUNT(*) AS n FROM orders"
            " WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY item ORDER BY 2, 1",
            [("milk", 0, 1), ("tea", 0, 1), ("tea", 60000, 1), (None, 7200000, 1)],
        ),
        (
            "SELECT id, COUNT(*) AS n FROM orders WINDOW SESSION (2 MINUTES) GROUP BY id"
            " HAVING COUNT(*) > 1",
            [("a", 2)],
        ),
        (
            "SELECT o.id, p.name, o.amount FROM orders o LEFT JOIN people p"
            " ON o.id = p.id AND o.amount > 2 ORDER BY o.amount",
            [("a", None, 2), ("a", "Ada", 3), ("c", None, 7), ("b", "Bob", 30)],
        ),
        ("SELECT o.id FROM orders o ANTI JOIN people p ON o.id = p.id", [("c",)]),
        (
            "SELECT o.item, p.name FROM orders o JOIN people p WITHIN 1 HOUR ON o.id = p.id",
            SqlError,
        ),
        (
            "SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 1 BY id",
            [("b", 30), ("c", 7), ("a", 3)],
        ),
        (
            "SELECT id, EXPLODE(ARRAY[amount, 0]) AS x FROM orders WHERE id = 'c'",
            [("c", 7), ("c", 0)],
        ),
        (
            "SELECT id, SUM(SUM(amount)) OVER () AS total FROM orders GROUP BY id ORDER BY id",
            [("a", 42), ("b", 42), ("c", 42)],
        ),
        (
            "SELECT ROWTIME AS t, SUM(amount) OVER (ORDER BY ROWTIME RANGE BETWEEN 1 MINUTE"
            " PRECEDING AND CURRENT ROW) AS n FROM orders ORDER BY t",
            [(0, 2), (59999, 32), (60000, 35), (7200000, 7)],
        ),
        ("WITH b AS (SELECT MAX(amount) AS m FROM orders) SELECT m FROM b", [(30,)]),
    ],
)
def test_any_question_is_answered(session: SqlSession, query: str, found: object) -> None:
    if found is SqlError:
        with pytest.raises(SqlError):
            rows(session, f"{query};")
    else:
        assert rows(session, f"{query};") == found


def test_an_answer_says_which_offsets_it_reflects(session: SqlSession) -> None:
    (answer,) = answers(session, "SELECT o.id FROM orders o JOIN people p ON o.id = p.id;")
    assert isinstance(answer, Listed)
    assert {at.topic: end for at, end in answer.offsets.items()} == {"orders": 4, "people": 3}
    told(session, "SET 'auto.offset.reset' = 'earliest';")
    (followed,) = answers(session, "SELECT id FROM orders EMIT CHANGES LIMIT 4;")
    assert isinstance(followed, Followed)
    assert len([row for row in followed.rows if row is not None]) == 4
    assert {at.topic: end for at, end in followed.offsets.items()} == {"orders": 4}


def test_the_steps_of_a_question_are_explained(session: SqlSession) -> None:
    words = told(
        session, "EXPLAIN SELECT COUNT(*) AS n FROM orders o JOIN people p ON o.id = p.id;"
    )
    assert "inner join by 1 equalities" in words
    assert "read PEOPLE" in words


def test_a_table_is_read_only_as_far_as_it_has_changed(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, PEOPLE)
        assert rows(session, "SELECT * FROM people WHERE id = 'a';") == []
        told(session, "INSERT INTO people VALUES ('b', 'Bob'), ('a', 'Ada'), ('c', 'Cyd');")
        assert rows(session, "SELECT name FROM people WHERE id = 'a';") == [("Ada",)]
        with open_log(tmp_path) as log:
            producer = Producer(log)
            producer.send("people", None, key=b"b")
            producer.send("people", b'{"NAME": "Ann"}', key=b"a")
            producer.close()
        query = "SELECT * FROM people WHERE {} LIMIT 5;"
        assert rows(session, query.format("id IN ('a', 'b')")) == [("a", "Ann")]
        assert rows(session, query.format("name LIKE 'A%' OR id = 'c'")) == [
            ("a", "Ann"),
            ("c", "Cyd"),
        ]
        told(session, "DROP TABLE people DELETE TOPIC;")
        told(session, PEOPLE)
        assert rows(session, "SELECT * FROM people;") == []
