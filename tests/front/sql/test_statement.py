from __future__ import annotations

import pytest

from penstock.front.sql.catalog import Catalog
from penstock.front.sql.insert import Inserted
from penstock.front.sql.statement import Done, Session, Started
from tests.front.sql.script import STREAM, TABLE, outcomes, refusal

AS = "CREATE STREAM o AS SELECT * FROM s;"


def test_a_source_is_known_after_it_was_created() -> None:
    session = Session(Catalog())
    assert outcomes(STREAM, session) == [Done("stream S created")]
    found = session.catalog.get("S")
    assert found is not None
    assert [(column.name, column.role) for column in found.columns] == [
        ("K", "key"),
        ("V", "value"),
    ]


def test_a_query_makes_a_source_that_others_can_read() -> None:
    *_, query = outcomes(f"{STREAM} {AS} CREATE STREAM p AS SELECT k, v + 1 AS w FROM o;")
    assert isinstance(query, Started)
    assert query.writes.topic == "P"
    assert [source.name for source in query.reads] == ["O"]


def test_a_source_that_is_there_may_be_left_or_replaced() -> None:
    again = "CREATE STREAM IF NOT EXISTS s (k STRING KEY) WITH (KAFKA_TOPIC='x', FORMAT='JSON');"
    assert outcomes(f"{STREAM} {again}")[-1] == Done("S exists already")
    more = "CREATE OR REPLACE STREAM s (k STRING KEY, v INT, w INT)"
    assert outcomes(f"{STREAM} {more} WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');")[-1]
    assert outcomes(f"{STREAM} ALTER STREAM s ADD COLUMN w INT;")[-1] == Done("S altered")


def test_values_are_resolved_to_rows() -> None:
    *_, found = outcomes(f"{STREAM} INSERT INTO s (k, v) VALUES ('a', 1);")
    assert isinstance(found, Inserted)
    assert [sorted(row) for row in found.rows] == [["K", "V"]]


def test_types_settings_and_assertions_change_no_topic() -> None:
    text = f"""{STREAM} CREATE TYPE price AS DECIMAL(9, 2); DROP TYPE price; DROP TYPE IF EXISTS x;
        SET 'a' = 'b'; UNSET 'a'; DEFINE n = '1'; UNDEFINE n;
        ASSERT STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');
        DROP STREAM s; DROP STREAM IF EXISTS s;"""
    assert all(isinstance(item, Done) for item in outcomes(text))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE STREAM o AS SELECT * FROM nowhere;", "SQL_SOURCE_MISSING"),
        (f"{STREAM} {STREAM}", "SQL_SOURCE_EXISTS"),
        (f"{STREAM} {AS} DROP STREAM s;", "SQL_SOURCE_READ"),
        (f"{STREAM} DROP TABLE s;", "SQL_SOURCE_KIND"),
        (f"{STREAM} CREATE TABLE o AS SELECT * FROM s;", "SQL_SOURCE_KIND"),
        (f"{STREAM} CREATE STREAM o AS SELECT * FROM s LIMIT 1;", "SQL_LIMIT"),
        (f"{STREAM} ALTER STREAM s ADD COLUMN v INT;", "SQL_COLUMN_TWICE"),
        (f"{STREAM} {AS} ALTER STREAM o ADD COLUMN w INT;", "SQL_ALTER"),
        (
            f"{STREAM} {AS} CREATE OR REPLACE STREAM o AS SELECT k, 'a' AS v FROM s;",
            "SQL_REPLACE",
        ),
        (
            f"{STREAM} ASSERT STREAM s (k INT KEY, v INT)"
            " WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');",
            "SQL_ASSERT",
        ),
        ("CREATE TYPE a AS INT; CREATE TYPE a AS INT;", "SQL_TYPE_EXISTS"),
        (f"{STREAM} {AS} INSERT INTO o SELECT k, 'a' AS v FROM s;", "SQL_INSERT"),
        (f"{STREAM} INSERT INTO s (k) VALUES ('a', 1);", "SQL_INSERT"),
        (f"{STREAM} INSERT INTO s (z) VALUES (1);", "SQL_COLUMN_MISSING"),
        ("SHOW STREAMS;", "SQL_UNSUPPORTED"),
        (f"{TABLE} SELECT k, v FROM t PARTITION BY v;", "SQL_PULL"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(text: str, code: str) -> None:
    error = refusal(text)
    assert error.code == code
    assert "^" in error.fact


def test_a_value_that_does_not_fit_its_column_is_shown() -> None:
    error = refusal(f"{STREAM} INSERT INTO s (k, v) VALUES ('a', ARRAY[1]);")
    assert error.code == "SQL_INSERT"
    assert "^" in error.fact
