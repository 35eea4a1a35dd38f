from __future__ import annotations

import pytest

from penstock.front.sql.format import format_statement
from penstock.front.sql.format_expression import format_expression
from penstock.front.sql.lex_words import keywords
from penstock.front.sql.parse import parse_expression, parse_statement

STATEMENTS = """
SELECT DISTINCT a, t.*, s->* FROM t WHERE x GROUP BY a PARTITION BY (a = 1) HAVING b
SELECT a FROM t GROUP BY ()
SELECT 1
WITH c AS (SELECT * FROM t) SELECT * FROM c UNION ALL SELECT 1 UNION (SELECT 2 LIMIT 1) ORDER BY a
SELECT * FROM t ORDER BY a DESC NULLS LAST, b LIMIT 3 BY a, b EMIT CHANGES FROM LATEST LIMIT 9
SELECT * FROM t FROM OFFSET 3
SELECT * FROM t FROM '2024' WHERE x
SELECT * FROM (SELECT * FROM 'a' WITH ('b.c' = -1, D = TRUE)) AS x
SELECT * FROM a.LATE AS l LEFT JOIN b WITHIN (1 DAY, 2 HOURS) GRACE PERIOD 1 HOUR ON a = b
SELECT * FROM a SEMI JOIN b ON x FULL JOIN c WITHIN 5 SECONDS ON y
SELECT * FROM a JOIN b WITHIN SESSION (5 SECONDS) ON x
SELECT * FROM a LEFT ASOF JOIN b BY ARRIVAL CORRECTED KEEP 1 DAY ON x
SELECT * FROM a WINDOW w HOPPING (SIZE 9 ROWS, ADVANCE BY 2.5 OF x, FULL ONLY) GROUP BY a
SELECT * FROM a WINDOW TUMBLING (UNTIL x = 1 OR y, RETENTION 1 DAY, OFFSET -1 DAY) GROUP BY a
SELECT * FROM a WINDOW SESSION (GAP x * 2, MAX SIZE 1 DAY, BY INGESTION TIME) GROUP BY a
SELECT * FROM a WINDOW GLOBAL GROUP BY a
SELECT * FROM a EMIT FINAL
SELECT * FROM a EMIT RETRACTING WHEN CLOSED, EARLY EVERY 10 SECONDS, LATE EACH ROW
SELECT * FROM a EMIT ANY OF (AFTER 5 ROWS, ALL OF (NEVER, ALWAYS), SEQUENCE (EACH BATCH))
SELECT * FROM a EMIT REPEAT (AFTER ROW WHERE x AND y) UNTIL (NEVER UNTIL AFTER WATERMARK)
SELECT * FROM a EMIT EVERY 1 DAY OFFSET 1 HOUR, KEEP LATE 1 HOUR, STAMP LATEST, NO EMPTY FINAL
SELECT * FROM a EMIT EVERY 1 DAY OF EVENT TIME, EMPTY ON TIME
SELECT * FROM a EMIT AFTER 1 DAY
SELECT * FROM a EMIT EVERY 3 ROWS
SELECT * FROM a EMIT WHEN COMPLETE
SELECT * FROM t MATCH_RECOGNIZE (MEASURES FINAL a AS b PATTERN ((a b)+? | c{2,} d{,3} e{4})) x
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY t ALL ROWS PER MATCH
AFTER MATCH SKIP TO NEXT ROW PATTERN (a -> (b | c)* WITH GAPS UNTIL (x) => {- d -} NOT e)
WITHIN 1 DAY DEFINE a AS x)
SELECT * FROM t MATCH_RECOGNIZE (AFTER MATCH SKIP PAST LAST ROW PATTERN ((a?)*))
SELECT * FROM t MATCH_RECOGNIZE (AFTER MATCH SKIP TO FIRST a PATTERN (a))
SELECT SUM(a) OVER (PARTITION BY b ORDER BY c RANGE BETWEEN 1 DAY PRECEDING AND 3 FOLLOWING)
SELECT a OVER, COUNT(*) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
CREATE OR REPLACE SOURCE TABLE IF NOT EXISTS n (a INT PRIMARY KEY, b DECIMAL(4, 2)) WITH (c = 'd')
CREATE STREAM n (a INT KEY, b STRUCT<c INT, `d` MAP<STRING, INT>> HEADERS, e BYTES HEADER('k'))
CREATE STREAM n
CREATE OR REPLACE STREAM IF NOT EXISTS n WITH (a = 1) AS SELECT * FROM t
ALTER STREAM n ADD COLUMN a INT, ADD b ARRAY<STRUCT<>>
DROP TABLE IF EXISTS n DELETE TOPIC
CREATE TYPE IF NOT EXISTS n AS VARCHAR(STRING)
DROP FUNCTION IF EXISTS n
CREATE SOURCE CONNECTOR IF NOT EXISTS n WITH ()
CREATE OR REPLACE TABLE FUNCTION n (a INT) RETURNS INT VECTORISED LANGUAGE PYTHON AS $$it's$$
CREATE FUNCTION IF NOT EXISTS n () RETURNS INT LANGUAGE PYTHON WITH (a = 1) AS 'x'
INSERT INTO n (a, b) VALUES (1, (x = 1)), ('it''s', NULL)
INSERT INTO n WITH (a = 'b') SELECT * FROM t
SHOW ALL TOPICS EXTENDED
SHOW SOURCE CONNECTORS
SHOW CONNECTOR PLUGINS
DESCRIBE n EXTENDED
DESCRIBE FUNCTION n
DESCRIBE STREAMS
PRINT 'a-b' FROM BEGINNING INTERVAL 2 LIMIT 3
EXPLAIN ANALYZE SELECT 1
EXPLAIN CTAS_1
EXPLAIN `SHOW`
TERMINATE ALL
PAUSE `a-b`
SET 'a' = 'b'
ALTER SYSTEM 'a' = 'b'
UNSET 'a'
DEFINE a = '$${b}'
UNDEFINE a
RUN SCRIPT 'a'
ASSERT VALUES n (a) VALUES (1)
ASSERT NULL VALUES n KEY (1)
ASSERT STREAM n (a INT) WITH (b = 'c')
ASSERT NOT EXISTS TOPIC 'a' WITH (b = 1) TIMEOUT 5 SECONDS
ASSERT SCHEMA SUBJECT 'a' ID 3 TIMEOUT 1 MILLISECOND
"""


def lines() -> list[str]:
    """Give the statements above, of which a few go over several lines."""
    found: list[str] = []
    for line in STATEMENTS.strip().splitlines():
        if line.startswith(("AFTER MATCH", "WITHIN 1 DAY")):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


@pytest.mark.parametrize("text", lines())
def test_what_was_written_is_read_as_the_same_statement(text: str) -> None:
    statement = parse_statement(text)
    written = format_statement(statement)
    assert parse_statement(written) == statement
    assert format_statement(parse_statement(written)) == written


@pytest.mark.parametrize(
    "text",
    [
        "A + B * C - D",
        "(A + B) * C",
        "A - (B - C)",
        "A || (B || C)",
        "-(A + B)",
        "-(-1)",
        "(-1)[2]",
        "(A = 1)->B",
        "(-A) AT TIME ZONE 'UTC'",
        "NOT (A AND B) OR C AND (D OR E)",
        "A AND (B AND C)",
        "(A = B) = C",
        "A NOT BETWEEN 1 AND 2 AND B NOT LIKE 'x' ESCAPE '!'",
        "A NOT IN (1, B = C) AND D IS NOT NULL AND E IS NOT DISTINCT FROM F",
        "F(X => X + 1, (X, Y) => X = Y)",
        "CASE A WHEN 1 THEN 2 ELSE 3 END",
        "CASE WHEN A THEN B END",
        "CAST(A AS MAP<STRING, ARRAY<DECIMAL(4, 2)>>)",
        "ARRAY[MAP('a' := 1), STRUCT(X := 2)]",
        "COUNT(DISTINCT T.A) + COUNT(*)",
        "1.50 + 1.0E0 + 1E300 + 2.5E-7 + 9223372036854775807",
        "TRUE AND FALSE AND NULL AND DATE '2020-01-01'",
        "`lower` + `a``b` + `SELECT` + 2FAST + `1E5`",
        "'it''s'",
    ],
)
def test_an_expression_has_only_the_brackets_it_needs(text: str) -> None:
    assert format_expression(parse_expression(text)) == text


def test_every_keyword_can_be_a_name() -> None:
    for word in keywords():
        text = f"SELECT `{word}`.`{word}` AS `{word}`, `{word}`(1) FROM `{word}` AS `{word}`"
        statement = parse_statement(text)
        assert parse_statement(format_statement(statement)) == statement


def test_a_statement_is_written_with_a_line_for_each_clause() -> None:
    text = (
        "create table n with (kafka_topic='x') as select a, count(*) c from t where a>1 group by a"
    )
    assert format_statement(parse_statement(text)) == (
        "CREATE TABLE N WITH (KAFKA_TOPIC = 'x') AS\n"
        "SELECT A, COUNT(*) AS C\nFROM T\nWHERE A > 1\nGROUP BY A;"
    )
