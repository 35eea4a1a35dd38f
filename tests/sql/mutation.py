"""Statements of every kind, and ways to spoil them."""

from __future__ import annotations

import random
import re

SETUP = """
CREATE STREAM orders (id STRING KEY, item STRING, amount INT, price DECIMAL(10, 2), seen TIMESTAMP,
  tags ARRAY<STRING>, extra MAP<STRING, INT>, who STRUCT<name STRING, age INT>)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE STREAM visits (id STRING KEY, page STRING)
  WITH (KAFKA_TOPIC='visits', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TABLE people (id STRING PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='people', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TYPE address AS STRUCT<street STRING, number INT>;
CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x * 2 $$;
"""
STATEMENTS = (
    "CREATE STREAM more (id STRING KEY, item STRING, amount DECIMAL(10, 2), tags ARRAY<STRING>)"
    " WITH (KAFKA_TOPIC='more', VALUE_FORMAT='JSON', PARTITIONS=1);",
    "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, m MAP<STRING, INT>, s STRUCT<a INT, b address>)"
    " WITH (KAFKA_TOPIC='t', FORMAT='JSON', PARTITIONS=2);",
    "CREATE STREAM big AS SELECT id, amount + 1 AS next, CASE WHEN amount > 3 THEN 'a' ELSE item"
    " END AS c FROM orders WHERE item LIKE '%a%' PARTITION BY id;",
    "CREATE TABLE counted WITH (PARTITIONS=1) AS SELECT item, COUNT(*) AS n, SUM(twice(amount))"
    " AS s FROM orders GROUP BY item HAVING COUNT(*) > 1;",
    "CREATE TABLE w AS SELECT id, MAX(amount) AS m FROM orders WINDOW HOPPING (SIZE 10 MINUTES,"
    " ADVANCE BY 1 MINUTE, GRACE PERIOD 1 HOUR) GROUP BY id EMIT FINAL;",
    "CREATE TABLE v AS SELECT id, SUM(amount) AS s FROM orders WINDOW TUMBLING (SIZE 1 MINUTE)"
    " GROUP BY id EMIT RETRACTING WHEN CLOSED, EARLY EVERY 10 SECONDS, LATE EACH ROW;",
    "CREATE TABLE r AS SELECT id, COUNT(*) AS s FROM orders WINDOW TUMBLING (SIZE 5 ROWS)"
    " GROUP BY id EMIT ACCUMULATING EVERY 2 ROWS;",
    "CREATE STREAM j AS SELECT o.id AS id, o.item, v.page FROM orders o LEFT JOIN visits v"
    " WITHIN (1 HOUR, 2 HOURS) GRACE PERIOD 1 MINUTE ON o.id = v.id;",
    "INSERT INTO visits SELECT id, item AS page FROM orders WHERE amount IN (1, 2, 3);",
    "INSERT INTO orders (ROWTIME, id, amount, tags) VALUES (5, 'a', 1, ARRAY['x']);",
    "SELECT o.id, p.name FROM orders o JOIN people p ON o.id = p.id EMIT CHANGES LIMIT 1;",
    "SELECT id, UCASE(name) AS big FROM people WHERE id = 'a' ORDER BY big LIMIT 3;",
    "WITH a AS (SELECT id, amount FROM orders) SELECT DISTINCT id FROM a UNION ALL SELECT id"
    " FROM people;",
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY amount DESC) AS n FROM orders;",
    "SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY id ORDER BY ROWTIME MEASURES"
    " LAST(b.amount) AS last PATTERN (a b+ c?) WITHIN 1 HOUR DEFINE b AS b.amount > a.amount)"
    " EMIT CHANGES;",
    "SELECT TRANSFORM(tags, t => UCASE(t)), extra['a'], who->name, DATEADD(DAYS, 1,"
    " FROM_DAYS(amount)), CAST(price AS INT) FROM orders EMIT CHANGES FROM BEGINNING;",
    "SELECT a.id FROM orders a ASOF JOIN visits b BY EVENT TIME KEEP 1 HOUR ON a.id = b.id"
    " EMIT CHANGES;",
    "CREATE AGGREGATE FUNCTION IF NOT EXISTS f(x INT, y STRING) RETURNS BIGINT VECTORISED"
    " LANGUAGE PYTHON WITH (TEST='f(1) = 2') AS $$ x.sum() $$;",
    "DROP FUNCTION IF EXISTS twice;",
    "CREATE TYPE other AS STRUCT<a INT, b ARRAY<DOUBLE>>;",
    "DROP TYPE address;",
    "ALTER STREAM orders ADD COLUMN more STRING, ADD less INT;",
    "DROP TABLE people DELETE TOPIC;",
    "DESCRIBE orders EXTENDED;",
    "SHOW ALL TOPICS EXTENDED;",
    "PRINT orders FROM BEGINNING INTERVAL 2 LIMIT 3;",
    "EXPLAIN SELECT id, SUM(amount) FROM orders WINDOW SESSION (1 MINUTE) GROUP BY id"
    " EMIT CHANGES;",
    "TERMINATE ALL;",
    "SET 'auto.offset.reset' = 'earliest';",
    "UNSET 'auto.offset.reset';",
    "DEFINE a = 'b';",
    "ASSERT VALUES people (id, name) VALUES ('a', 'Ada');",
    "ASSERT NULL VALUES people (id) KEY ('a');",
    "ASSERT STREAM orders (id STRING KEY, item STRING) WITH (KAFKA_TOPIC='orders',"
    " VALUE_FORMAT='JSON');",
    "ASSERT NOT EXISTS TOPIC nothing WITH (PARTITIONS=1) TIMEOUT 1 SECOND;",
    "ASSERT SCHEMA SUBJECT 'a' ID 3;",
    "CREATE SOURCE CONNECTOR c WITH ('a' = 'b');",
    "ALTER SYSTEM 'a' = 'b';",
)
_WORDS = re.compile(r"\$\$.*?\$\$|'[^']*'|\w+|[^\s\w]")
_OTHERS = (
    *(
        "NULL",
        "'x'",
        "-1",
        "1.5",
        "TRUE",
        "99999999999",
        "1e400",
        "9" * 400,
        "-9223372036854775809",
    ),
    *("id", "amount", "nothing", "orders", "people", "people.id", "a.b.c.d", "*", "COUNT(*)"),
    *("SELECT", "EMIT", "WINDOW", "CASE", "INT", "STRING", "id, id", "x => x", "->", "${v}", ";"),
    *("(", ")", "$$", "'", '"', "`", "--", "/*", "ß", "日本", "\u202e", "\x00", "\ud800"),
    *("ARRAY[1]", "MAP('a' := 1)", "DATE '2020-02-30'", "TIMESTAMP 'x'"),
)
_GAPS = ("  ", "\n", "\t", "\u00a0", "/* */")
_DEPTHS = (50, 400, 3000)


def mutated(text: str, chance: random.Random) -> str:
    """Spoil a statement: words gone, twice, swapped, others, cut off, deep, glued or far apart."""
    words = _WORDS.findall(text)
    place, other = chance.randrange(len(words)), chance.randrange(len(words))
    match chance.randrange(9):
        case 0:
            words.insert(place, words[place])
        case 1:
            del words[place]
        case 2:
            words[place], words[other] = words[other], words[place]
        case 3:
            del words[place:]
        case 4:
            depth = chance.choice(_DEPTHS)
            words[place] = "(" * depth + words[place] + ")" * (depth - chance.randrange(2))
        case 5:
            return text.replace(" ", chance.choice(_GAPS), place)
        case 6:
            words[place] += chance.choice(("'", '"', "é", "0"))
        case _:
            words[place] = chance.choice(_OTHERS)
    return " ".join(words)
