from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from penstock.front.sql import parse_tables
from penstock.front.sql.lex import SqlLexer
from penstock.front.sql.parse_tables import TABLES, grammar_version, parser_of_tables

STATEMENT = "SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY a EMIT CHANGES"


def test_the_tables_are_those_of_the_grammar() -> None:
    told = json.loads(gzip.decompress(TABLES.read_bytes()))
    assert told["version"] == grammar_version(), "run: python -m tests.house.grammar_tables"


def test_a_parser_of_tables_reads_statements() -> None:
    parser = parser_of_tables(SqlLexer)
    assert parser is not None
    assert parser.parse(STATEMENT, start="statement").data == "query_statement"


def test_tables_of_another_grammar_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tables"
    monkeypatch.setattr(parse_tables, "TABLES", file)
    assert parser_of_tables(SqlLexer) is None
    file.write_bytes(b"no tables")
    assert parser_of_tables(SqlLexer) is None
    file.write_bytes(gzip.compress(json.dumps({"version": "another", "tables": {}}).encode()))
    assert parser_of_tables(SqlLexer) is None
