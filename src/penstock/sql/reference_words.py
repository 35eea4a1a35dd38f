"""What the reference says of each statement, and examples, which are run in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """What a part of the language does, and examples; one that needs more is only read."""

    says: str
    examples: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()


STATEMENTS: Mapping[str, Page] = {
    "create_source": Page(
        "A stream or a table over a topic. A column is of the value, or KEY, PRIMARY KEY (of a "
        "table), HEADERS or HEADER('name'). A SOURCE is only read.",
        (
            "CREATE STREAM sales (shop STRING KEY, item STRING, price DOUBLE, sold BIGINT)\n"
            "  WITH (KAFKA_TOPIC = 'sales', FORMAT = 'JSON', PARTITIONS = 1);",
            "CREATE TABLE shops (shop STRING PRIMARY KEY, city STRING)\n"
            "  WITH (KAFKA_TOPIC = 'shops', FORMAT = 'JSON', PARTITIONS = 1);",
        ),
    ),
    "create_as": Page(
        "A stream or a table that a query fills from now on, until it is dropped or the query is "
        "terminated.",
        (
            "CREATE STREAM dear AS SELECT shop, item, price FROM sales WHERE price >= 100;",
            "CREATE TABLE earned AS SELECT shop, SUM(price) AS total, COUNT(*) AS sold\n"
            "  FROM sales GROUP BY shop;",
        ),
    ),
    "alter_source": Page(
        "Columns more, which are null in the records there are.",
        ("ALTER TABLE shops ADD COLUMN opened DATE;",),
    ),
    "drop_source": Page(
        "A source forgotten that nothing reads; with DELETE TOPIC its records too.",
        (
            "CREATE STREAM short (word STRING)\n"
            "  WITH (KAFKA_TOPIC = 'short', VALUE_FORMAT = 'JSON', PARTITIONS = 1);",
            "DROP STREAM IF EXISTS short DELETE TOPIC;",
        ),
    ),
    "create_type": Page(
        "A name for a type.",
        ("CREATE TYPE IF NOT EXISTS address AS STRUCT<street STRING, number INT>;",),
    ),
    "create_function": Page(
        "A function of your own, in Python: of a row, giving rows (TABLE), or of the rows of a "
        "group (AGGREGATE). It is tried out before it is kept; see "
        "[Functions of your own](sql.md#functions-of-your-own).",
        (
            "CREATE FUNCTION with_tax(price DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON\n"
            "  WITH (TEST = 'with_tax(100.0E0) = 119.0E0') AS $$ round(price * 1.19, 2) $$;",
        ),
    ),
    "create_connector": Page(
        "Refused: Penstock has no connectors of Kafka Connect.",
        read_only=("CREATE SOURCE CONNECTOR files WITH ('connector.class' = 'File');",),
    ),
    "drop_named": Page(
        "A type or a function forgotten that nothing uses.",
        ("DROP TYPE IF EXISTS address;",),
    ),
    "insert_select": Page(
        "A query that writes to a stream that is there, from now on.",
        ("INSERT INTO dear SELECT shop, item, price FROM sales WHERE item = 'gold';",),
    ),
    "insert_values": Page(
        "Rows written now. ROWTIME can be given; a column left out is null.",
        (
            "INSERT INTO sales VALUES ('north', 'tea', 4.5, 1), ('north', 'ring', 250.0, 2);",
            "INSERT INTO shops (ROWTIME, shop, city) VALUES (0, 'north', 'Oslo');",
        ),
    ),
    "query_statement": Page(
        "Without EMIT what there is now; with EMIT rows as they come.",
        ("SELECT item, with_tax(price) AS paid FROM sales WHERE price < 10;",),
    ),
    "show": Page("What there is.", ("SHOW STREAMS;", "LIST FUNCTIONS;")),
    "describe": Page("All of one thing.", ("DESCRIBE sales EXTENDED;", "DESCRIBE FUNCTION LPAD;")),
    "print_topic": Page(
        "The records of a topic as they come, or FROM BEGINNING.",
        ("PRINT sales FROM BEGINNING LIMIT 2;",),
    ),
    "explain": Page(
        "What a query means, and how it runs.",
        ("EXPLAIN SELECT shop, COUNT(*) FROM sales GROUP BY shop EMIT CHANGES;",),
    ),
    "control": Page(
        "A query ended for good, held, or let go on.", read_only=("TERMINATE ALL;", "PAUSE q1;")
    ),
    "set_property": Page("A setting of this session.", ("SET 'auto.offset.reset' = 'earliest';",)),
    "alter_system": Page(
        "A setting for all sessions.",
        read_only=("ALTER SYSTEM 'auto.offset.reset' = 'earliest';",),
    ),
    "unset_property": Page("The setting as it was.", ("UNSET 'auto.offset.reset';",)),
    "define": Page("A variable: `${name}` in later statements.", ("DEFINE dear = '100';",)),
    "undefine": Page("The variable forgotten.", ("UNDEFINE dear;",)),
    "run_script": Page("The statements of a file.", read_only=("RUN SCRIPT 'more.sql';",)),
    "assert_values": Page(
        "Refused where the next record of a source, from its first on, is another.",
        ("ASSERT VALUES shops (ROWTIME, shop, city) VALUES (0, 'north', 'Oslo');",),
    ),
    "assert_null_values": Page(
        "The same of a record that deletes its key.",
        read_only=("ASSERT NULL VALUES shops (shop) KEY ('north');",),
    ),
    "assert_source": Page(
        "Refused where a source has other columns or properties.",
        (
            "ASSERT STREAM sales (shop STRING KEY, item STRING, price DOUBLE, sold BIGINT)\n"
            "  WITH (KAFKA_TOPIC = 'sales', FORMAT = 'JSON');",
        ),
    ),
    "assert_topic": Page(
        "Refused where a topic is not there, or is; it waits as long as TIMEOUT says.",
        ("ASSERT TOPIC 'sales' WITH (PARTITIONS = 1);", "ASSERT NOT EXISTS TOPIC nothing;"),
    ),
    "assert_schema": Page(
        "The same of a schema in the registry.",
        read_only=("ASSERT SCHEMA SUBJECT 'sales-value' TIMEOUT 1 SECOND;",),
    ),
}

SECTIONS: Mapping[str, Page] = {
    "queries": Page(
        "What a query reads, keeps, groups and gives.",
        (
            "SELECT shop, item AS what, price FROM sales WHERE price BETWEEN 1 AND 300;",
            "SELECT s.shop AS shop, s.item, p.city FROM sales s LEFT JOIN shops p\n"
            "  ON s.shop = p.shop EMIT CHANGES LIMIT 1;",
        ),
    ),
    "windows": Page(
        "Where in time rows are gathered.",
        (
            "CREATE TABLE hourly AS SELECT shop, COUNT(*) AS sold FROM sales\n"
            "  WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES) GROUP BY shop;",
            "CREATE TABLE busy AS SELECT shop, COUNT(*) AS sold FROM sales\n"
            "  WINDOW SESSION (5 MINUTES) GROUP BY shop;",
        ),
    ),
    "emit": Page(
        "When results are given, and how they relate to those given before. CHANGES gives every "
        "change, FINAL one result when a window is over.",
        (
            "CREATE TABLE daily AS SELECT shop, SUM(price) AS total FROM sales\n"
            "  WINDOW TUMBLING (SIZE 1 DAY) GROUP BY shop EMIT FINAL;",
            "SELECT shop, SUM(price) FROM sales WINDOW TUMBLING (SIZE 1 DAY) GROUP BY shop\n"
            "  EMIT RETRACTING WHEN CLOSED, EARLY EVERY 10 SECONDS, LATE EACH ROW;",
        ),
    ),
    "patterns": Page(
        "Sequences of rows of one key, found as they come.",
        (
            "SELECT * FROM sales MATCH_RECOGNIZE (\n"
            "  PARTITION BY shop ORDER BY ROWTIME MEASURES LAST(b.price) AS price\n"
            "  PATTERN (a b+) WITHIN 1 HOUR DEFINE b AS b.price > a.price) EMIT CHANGES;",
        ),
    ),
    "expressions": Page(
        "Values computed of the columns of a row. [Functions](sql-functions.md) have a page of "
        "their own. A value that cannot be computed is null, and a comparison with null is false.",
        (
            "SELECT CASE WHEN price > 10 THEN 'dear' ELSE 'cheap' END AS kind,\n"
            "  STRUCT(shop := shop, tags := ARRAY['a', item]) AS label,\n"
            "  TRANSFORM(ARRAY[price, 1], x => x * 2)[1] AS twice,\n"
            "  CAST(sold AS STRING) || '!' AS said FROM sales WHERE item LIKE 't%';",
        ),
    ),
}

TYPES: Mapping[str, str] = {
    "BOOLEAN": "true or false",
    "INT, INTEGER": "a whole number of 32 bits",
    "BIGINT": "a whole number of 64 bits",
    "DOUBLE": "a floating-point number of 64 bits",
    "DECIMAL(p, s), DEC, NUMERIC": "an exact number of p digits, s of them after the point",
    "STRING, VARCHAR": "text",
    "BYTES": "bytes",
    "DATE": "a day",
    "TIME": "a time of day",
    "TIMESTAMP": "a moment, to the millisecond",
    "ARRAY<t>": "items of one type",
    "MAP<k, t>": "items by keys",
    "STRUCT<name t, ...>": "fields by name",
}

PROPERTIES: Mapping[str, str] = {
    "KAFKA_TOPIC": "the topic; that of a result is called as the result if it is not said",
    "FORMAT": "the format of key and value",
    "KEY_FORMAT": "the format of keys",
    "VALUE_FORMAT": "the format of values",
    "PARTITIONS": "how many partitions a new topic has",
    "REPLICAS": "taken, and means nothing on a log of one machine",
    "TIMESTAMP": "the column with the event time; without it that of the record counts",
    "TIMESTAMP_FORMAT": "how that column is written, where it is text",
    "WRAP_SINGLE_VALUE": "whether one column of values has a name in its records",
    "VALUE_DELIMITER": "what stands between values of DELIMITED: a letter, SPACE or TAB",
    "KEY_DELIMITER": "the same of keys",
    "VALUE_AVRO_SCHEMA_FULL_NAME": "the old word for VALUE_SCHEMA_FULL_NAME",
    "VALUE_SCHEMA_FULL_NAME": "the name of the value's schema in the registry",
    "KEY_SCHEMA_FULL_NAME": "the name of the key's schema in the registry",
    "KEY_SCHEMA_ID": "the schema of keys, by its id in the registry",
    "VALUE_SCHEMA_ID": "the schema of values, by its id in the registry",
    "RETENTION_MS": "how long a new topic keeps its records",
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION": "how PROTOBUF says null in keys",
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION": "how PROTOBUF says null in values",
    "CLEANUP_POLICY": "delete or compact, of a new topic",
    "KEY": "the old word for the key column",
    "LATENESS": "how far a row may lie behind the latest of its partition, such as '10 SECONDS'",
    "IDLE": "how long a partition without rows is waited for, such as '1 MINUTE'",
    "WINDOW_TYPE": "TUMBLING, HOPPING or SESSION: keys of the topic have windows",
    "WINDOW_SIZE": "how long these windows are",
    "SOURCED_BY_CONNECTOR": "taken, and means nothing here",
    "QUERY_ID": "the id of a query that inserts",
    "TEST": "an expression that must be true before a function is kept; TEST2 to TEST9 are more",
    "NULLS": "'skip': a function gives null where an argument is null; 'call': it is called",
    "COLUMNS": "'polars' or 'arrow': what a VECTORISED function takes and gives",
    "DESCRIPTION": "what DESCRIBE FUNCTION says of it",
}
