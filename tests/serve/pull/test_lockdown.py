from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.topic import TopicConfig
from penstock.serve.pull.tables import Tables
from tests.serve.pull.kit import opened


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    home = tmp_path_factory.mktemp("home")
    with opened(home, seconds=1.0, memory=256 * 1024 * 1024) as (log, found):
        log.create_topic("c", config=TopicConfig(cleanup="compact"))
        yield found


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "SELECT 1; SELECT 2",
        "INSERT INTO c VALUES (1)",
        "UPDATE c SET value = 1",
        "DELETE FROM c",
        "CREATE TABLE x AS SELECT 1",
        "CREATE MACRO f() AS 1",
        "DROP TABLE c",
        "COPY c TO 'out.csv'",
        "COPY (SELECT 1) TO 'out.csv'",
        "EXPORT DATABASE 'out'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA version",
        "CALL pragma_version()",
        "SET threads = 1",
        "RESET threads",
        "USE memory",
        "EXPLAIN SELECT 1",
        "BEGIN",
        "CHECKPOINT",
        "PREPARE p AS SELECT 1",
        "VACUUM",
    ],
)
def test_only_one_select_is_a_query(tables: Tables, sql: str) -> None:
    with pytest.raises(SqlError, match="QUERY_STATEMENT"):
        tables.query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_parquet('http://127.0.0.1/x')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM query_table('c')",
        "SELECT (SELECT count(*) FROM read_blob('/etc/passwd'))",
        "WITH a AS (SELECT * FROM sniff_csv('/etc/passwd')) SELECT * FROM a",
        "WITH a AS (INSERT INTO c VALUES (1) RETURNING 1) SELECT * FROM a",
        "SELECT current_setting('threads')",
        "SHOW TABLES",
        "SELECT * FROM a.b.c",
        "SELECT * FROM c AT (VERSION => 1)",
    ],
)
def test_what_reaches_outside_is_forbidden(tables: Tables, sql: str) -> None:
    with pytest.raises(SqlError, match="QUERY_FORBIDDEN"):
        tables.query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'x.parquet'",
        "SELECT * FROM tables",
        "SELECT * FROM duckdb_tables",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM pg_catalog.pg_class",
    ],
)
def test_no_file_and_no_variable_is_a_table(tables: Tables, sql: str) -> None:
    with pytest.raises(SqlError, match="QUERY_TABLE_MISSING"):
        tables.query(sql)


def test_a_text_that_is_no_sql_is_shown_where(tables: Tables) -> None:
    with pytest.raises(SqlError, match="QUERY_SYNTAX") as caught:
        tables.query("SELECT 'ü',\n 1 FROM WHERE")
    assert caught.value.fact.startswith("line 2, column 9: ")


def test_an_answer_that_takes_too_long_is_given_up(tables: Tables) -> None:
    with pytest.raises(SqlError, match="QUERY_TIME"):
        tables.query(
            "SELECT count(*) FROM range(1000000) a, range(1000000) b"
            " WHERE a.range % 7 = b.range % 11"
        )
    assert tables.query("SELECT 1 AS one").rows == [(1,)]


def test_an_answer_that_needs_too_much_memory_is_given_up(tables: Tables) -> None:
    with pytest.raises(SqlError, match=r"QUERY_MEMORY|QUERY_TIME"):
        tables.query("SELECT list(range) FROM range(100000000)")
    assert tables.query("SELECT 1 AS one").rows == [(1,)]


def test_names_in_quotes_are_names(tables: Tables, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SqlError, match="QUERY_TABLE_MISSING"):
        tables.query('SELECT * FROM "x"";DROP TABLE c;--"')
    with pytest.raises(SqlError, match="QUERY_TABLE_MISSING"):
        tables.query('SELECT * FROM history."../../etc/passwd"')


def test_functions_that_make_rows_of_nothing_else_are_there(tables: Tables) -> None:
    asked = "SELECT u, json_extract_string('{\"a\": \"x\"}', 'a') FROM unnest([1, 2]) AS t(u)"
    assert tables.query(asked).rows == [(1, "x"), (2, "x")]
