from __future__ import annotations

import pytest

from penstock.front.sql.parse import parse_statement
from penstock.front.sql.tree import ArrayType, Duration, MapType, Name, NamedType, StructType
from penstock.front.sql.tree_expression import (
    BooleanLiteral,
    IntegerLiteral,
    NullLiteral,
    StringLiteral,
)
from penstock.front.sql.tree_query import (
    CommonTable,
    Property,
    Query,
    Select,
    SelectAll,
    Source,
)
from penstock.front.sql.tree_statement import (
    AlterSource,
    AssertSchema,
    AssertSource,
    AssertTopic,
    AssertValues,
    ColumnDefinition,
    Control,
    CreateAs,
    CreateConnector,
    CreateFunction,
    CreateSource,
    CreateType,
    Define,
    Describe,
    DropNamed,
    DropSource,
    Explain,
    InsertSelect,
    InsertValues,
    Parameter,
    Print,
    QueryStatement,
    RunScript,
    SetProperty,
    Show,
    Statement,
    Undefine,
    UnsetProperty,
)

N = Name("N")
INT, STRING = NamedType(Name("INT")), NamedType(Name("STRING"))
QUERY = Query(Select((SelectAll(),), Source(Name("T"))))
TOPIC = (Property("KAFKA_TOPIC", StringLiteral("x")),)
ONE = IntegerLiteral(1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE STREAM n", CreateSource("stream", N)),
        (
            "create or replace source table if not exists n (a int) with (kafka_topic='x')",
            CreateSource(
                "table",
                N,
                (ColumnDefinition(Name("A"), INT),),
                TOPIC,
                or_replace=True,
                if_not_exists=True,
                read_only=True,
            ),
        ),
        ("CREATE STREAM n AS SELECT * FROM t", CreateAs("stream", N, QUERY)),
        (
            "CREATE OR REPLACE TABLE IF NOT EXISTS n WITH (kafka_topic='x') AS SELECT * FROM t",
            CreateAs("table", N, QUERY, TOPIC, or_replace=True, if_not_exists=True),
        ),
        (
            "ALTER TABLE n ADD COLUMN a INT, ADD b STRING",
            AlterSource(
                "table",
                N,
                (ColumnDefinition(Name("A"), INT), ColumnDefinition(Name("B"), STRING)),
            ),
        ),
        ("DROP STREAM n", DropSource("stream", N)),
        (
            "DROP TABLE IF EXISTS n DELETE TOPIC",
            DropSource("table", N, if_exists=True, delete_topic=True),
        ),
        ("CREATE TYPE n AS ARRAY<INT>", CreateType(N, ArrayType(INT))),
        ("CREATE TYPE IF NOT EXISTS n AS INT", CreateType(N, INT, if_not_exists=True)),
        ("DROP TYPE n", DropNamed("type", N)),
        ("DROP CONNECTOR IF EXISTS n", DropNamed("connector", N, if_exists=True)),
        ("DROP FUNCTION n", DropNamed("function", N)),
        (
            "CREATE SINK CONNECTOR n WITH ('connector.class'='x')",
            CreateConnector("sink", N, (Property("connector.class", StringLiteral("x")),)),
        ),
        (
            "CREATE FUNCTION n (a INT) RETURNS STRING LANGUAGE PYTHON AS 'x'",
            CreateFunction(N, (Parameter(Name("A"), INT),), STRING, Name("PYTHON"), "x"),
        ),
        (
            "CREATE OR REPLACE AGGREGATE FUNCTION IF NOT EXISTS n () RETURNS MAP<STRING, INT> "
            "VECTORISED LANGUAGE PYTHON WITH (kafka_topic='x') AS $$it's\n$$",
            CreateFunction(
                N,
                (),
                MapType(STRING, INT),
                Name("PYTHON"),
                "it's\n",
                "aggregate",
                vectorised=True,
                properties=TOPIC,
                or_replace=True,
                if_not_exists=True,
            ),
        ),
        (
            "CREATE TABLE FUNCTION n (a INT) RETURNS STRUCT<> LANGUAGE PYTHON AS ''",
            CreateFunction(
                N, (Parameter(Name("A"), INT),), StructType(()), Name("PYTHON"), "", "table"
            ),
        ),
        ("CREATE TABLE function", CreateSource("table", Name("FUNCTION"))),
    ],
)
def test_definitions(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


def test_the_columns_of_a_source() -> None:
    text = """CREATE STREAM n (a INT KEY, b STRING PRIMARY KEY, key INT,
        c ARRAY<INT> HEADERS, d STRING HEADER('x'))"""
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    assert statement.columns == (
        ColumnDefinition(Name("A"), INT, "key"),
        ColumnDefinition(Name("B"), STRING, "primary key"),
        ColumnDefinition(Name("KEY"), INT),
        ColumnDefinition(Name("C"), ArrayType(INT), "headers"),
        ColumnDefinition(Name("D"), STRING, "header", "x"),
    )


def test_properties_may_be_spelt_in_the_old_ways() -> None:
    text = """CREATE STREAM n
        WITH (kafka_topic=visitors, KEY='a', 'x.y'=-1, PARTITIONS=5, `z`=true, w=NULL)"""
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    assert statement.properties == (
        Property("KAFKA_TOPIC", StringLiteral("visitors")),
        Property("KEY", StringLiteral("a")),
        Property("x.y", IntegerLiteral(-1)),
        Property("PARTITIONS", IntegerLiteral(5)),
        Property("z", BooleanLiteral(value=True)),
        Property("W", NullLiteral()),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM t", QueryStatement(QUERY)),
        ("INSERT INTO n SELECT * FROM t", InsertSelect(N, QUERY)),
        ("INSERT INTO n WITH (kafka_topic='x') SELECT * FROM t", InsertSelect(N, QUERY, TOPIC)),
        (
            "INSERT INTO n WITH c AS (SELECT * FROM t) SELECT * FROM t",
            InsertSelect(N, Query(QUERY.body, (CommonTable(Name("C"), QUERY),))),
        ),
        ("INSERT INTO n VALUES (1)", InsertValues(N, ((ONE,),))),
        ("INSERT INTO n VALUES ()", InsertValues(N, ((),))),
        (
            "INSERT INTO n (a, key) VALUES (1, 'x'), (1, NULL)",
            InsertValues(
                N,
                ((ONE, StringLiteral("x")), (ONE, NullLiteral())),
                (Name("A"), Name("KEY")),
            ),
        ),
    ],
)
def test_queries_and_insertions(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SHOW PROPERTIES", Show("properties")),
        ("LIST TOPICS", Show("topics")),
        ("SHOW ALL TOPICS EXTENDED", Show("topics", extended=True, narrowed="all")),
        ("SHOW STREAMS EXTENDED", Show("streams", extended=True)),
        ("LIST TABLES", Show("tables")),
        ("SHOW FUNCTIONS", Show("functions")),
        ("SHOW CONNECTORS", Show("connectors")),
        ("SHOW SINK CONNECTORS", Show("connectors", narrowed="sink")),
        ("LIST SOURCE CONNECTORS", Show("connectors", narrowed="source")),
        ("SHOW CONNECTOR PLUGINS", Show("connector plugins")),
        ("SHOW TYPES", Show("types")),
        ("SHOW VARIABLES", Show("variables")),
        ("SHOW QUERIES EXTENDED", Show("queries", extended=True)),
        ("DESCRIBE n", Describe("source", N)),
        ("DESCRIBE n EXTENDED", Describe("source", N, extended=True)),
        ("DESCRIBE EXTENDED n", Describe("source", N, extended=True)),
        ("DESCRIBE extended", Describe("source", Name("EXTENDED"))),
        ("DESCRIBE STREAMS EXTENDED", Describe("streams", extended=True)),
        ("DESCRIBE TABLES", Describe("tables")),
        ("DESCRIBE FUNCTION n", Describe("function", N)),
        ("DESCRIBE FUNCTION 'n'", Describe("function", N)),
        ("DESCRIBE CONNECTOR n", Describe("connector", N)),
        ("PRINT Orders", Print("Orders")),
        ("PRINT 'a-b' FROM BEGINNING INTERVAL 2 LIMIT 3", Print("a-b", True, 2, 3)),  # noqa: FBT003
        ("PRINT a SAMPLE 2", Print("a", interval=2)),
        ("EXPLAIN SELECT * FROM t", Explain(QueryStatement(QUERY))),
        ("EXPLAIN CTAS_N_1", Explain(Name("CTAS_N_1"))),
        ("EXPLAIN ANALYZE SELECT * FROM t", Explain(QueryStatement(QUERY), analyze=True)),
    ],
)
def test_inspection(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TERMINATE ALL", Control("terminate", None)),
        ("TERMINATE CTAS_N_1", Control("terminate", Name("CTAS_N_1"))),
        ("PAUSE n", Control("pause", N)),
        ("RESUME ALL", Control("resume", None)),
        ("SET 'a.b' = 'c'", SetProperty("a.b", "c")),
        ("ALTER SYSTEM 'a' = 'b'", SetProperty("a", "b", system=True)),
        ("UNSET 'a'", UnsetProperty("a")),
        ("DEFINE n = 'x'", Define(N, "x")),
        ("UNDEFINE n", Undefine(N)),
        ("RUN SCRIPT 'a/b.sql'", RunScript("a/b.sql")),
        ("ASSERT VALUES n (a) VALUES (1)", AssertValues(N, (ONE,), (Name("A"),))),
        ("ASSERT NULL VALUES n KEY (1)", AssertValues(N, (ONE,), tombstone=True)),
        (
            "ASSERT STREAM n (a INT) WITH (kafka_topic='x')",
            AssertSource("stream", N, (ColumnDefinition(Name("A"), INT),), TOPIC),
        ),
        ("ASSERT TABLE n", AssertSource("table", N)),
        ("ASSERT TOPIC Ab", AssertTopic("Ab")),
        (
            "ASSERT NOT EXISTS TOPIC 'a' WITH (kafka_topic='x') TIMEOUT 5 SECONDS",
            AssertTopic("a", TOPIC, exists=False, timeout=Duration(5, "second")),
        ),
        ("ASSERT SCHEMA SUBJECT s ID 3", AssertSchema("s", 3)),
        ("ASSERT NOT EXISTS SCHEMA ID 3", AssertSchema(id=3, exists=False)),
    ],
)
def test_control_and_assertions(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected
