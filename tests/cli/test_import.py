"""Leaving ksqlDB: statements of scripts and servers are tried, and what runs becomes a project."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.cli.shell import Cli

SCRIPT = """
SET 'ksql.persistence.wrap.single.values' = 'false';
DEFINE place = 'orders';
-- The order of statements is not the one that works.
CREATE TABLE totals AS SELECT item, SUM(amount) AS total FROM sales GROUP BY item;
CREATE STREAM sales (id INT KEY, item STRING, amount INT)
  WITH (KAFKA_TOPIC='${place}', VALUE_FORMAT='JSON', PARTITIONS=1);
SHOW STREAMS;
CREATE STREAM broken AS SELECT price FROM sales;
SELEC 1;
"""


@pytest.fixture
def script(working_directory: Path) -> str:
    path = working_directory / "queries.sql"
    path.write_text(SCRIPT)
    return str(path)


def test_each_statement_runs_or_is_refused_with_the_reason(cli: Cli, script: str) -> None:
    ran = cli("import", "ksql", script)
    assert ran.code == 1
    verdicts = {line.split()[1] + " " + line.split()[2]: line for line in ran.lines[1:]}
    assert verdicts["stream SALES"].startswith("runs")
    assert verdicts["table TOTALS"].startswith("runs")
    assert '[SQL_COLUMN_MISSING] line 9, column 32: column "PRICE"' in verdicts["stream BROKEN"]
    assert "[SQL_PROJECT]" in verdicts["SHOW STREAMS"]
    assert "[SQL_SYNTAX]" in verdicts["SELEC 1"]
    assert "2 of 5 statements run" in ran.err


def test_what_runs_is_a_project_that_can_be_applied(cli: Cli, script: str) -> None:
    assert cli("import", "ksql", script, "--to", "project", "--json").code == 1
    files = sorted(path.name for path in Path("project").iterdir())
    assert [name for name in files if name.endswith(".sql")] == [
        "003-stream-sales.sql",
        "004-table-totals.sql",
    ]
    refused = Path("project/005-stream-broken.refused").read_text()
    assert refused.startswith("-- ")
    assert refused.endswith("CREATE STREAM broken AS SELECT price FROM sales;\n")
    assert "'orders'" in Path("project/003-stream-sales.sql").read_text()
    assert cli("sql", "apply", "project").code == 0
    assert cli("sql", "plan", "project").code == 0
    again = cli("import", "ksql", script, "--to", "project")
    assert (again.code, "SQL_PROJECT" in again.err) == (1, True)


def test_migrations_are_read_in_the_order_of_their_names(cli: Cli, working_directory: Path) -> None:
    folder = working_directory / "migrations"
    folder.mkdir()
    (folder / "V000002__type.sql").write_text("CREATE TYPE place AS STRUCT<city STRING>;")
    (folder / "V000001__source.sql").write_text(
        "CREATE STREAM s (home place) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    ran = cli("import", "ksql", "migrations", "--json")
    assert ran.code == 0
    assert [item["makes"] for item in ran.json["statements"]] == ["type PLACE", "stream S"]


@pytest.mark.parametrize("name", ["nothing.sql", "empty"])
def test_a_place_without_statements_is_said(cli: Cli, working_directory: Path, name: str) -> None:
    (working_directory / "empty").mkdir()
    ran = cli("import", "ksql", name)
    assert (ran.code, len(ran.err.splitlines()) <= 3) == (1, True)


def test_an_empty_script_is_said(cli: Cli, working_directory: Path) -> None:
    (working_directory / "empty.sql").write_text("-- nothing\n")
    assert "IMPORT_EMPTY" in cli("import", "ksql", "empty.sql").err


SOURCES = "CREATE STREAM s (k INT KEY, home PLACE) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON')"
STRUCT = {
    "type": "STRUCT",
    "fields": [
        {"name": "CITY", "schema": {"type": "STRING"}},
        {"name": "SIZES", "schema": {"type": "ARRAY", "memberSchema": {"type": "BIGINT"}}},
        {"name": "RANKS", "schema": {"type": "MAP", "memberSchema": {"type": "DOUBLE"}}},
        {
            "name": "PRICE",
            "schema": {"type": "DECIMAL", "parameters": {"precision": 6, "scale": 2}},
        },
    ],
}
ANSWERS: dict[str, Any] = {
    "SHOW TYPES;": [{"@type": "type_list", "types": {"PLACE": STRUCT}}],
    "SHOW STREAMS EXTENDED;": [
        {
            "@type": "source_descriptions",
            "sourceDescriptions": [
                {"name": "S", "statement": SOURCES},
                {"name": "T", "statement": "CREATE STREAM t AS SELECT k, home->city FROM s;"},
            ],
        }
    ],
    "SHOW TABLES EXTENDED;": [{"@type": "source_descriptions", "sourceDescriptions": []}],
    "SHOW QUERIES;": [
        {
            "@type": "queries",
            "queries": [
                {"id": "CSAS_T_1", "queryString": "CREATE STREAM t AS SELECT k FROM s;"},
                {
                    "id": "INSERTQUERY_3",
                    "queryString": "INSERT INTO t SELECT k, home->city FROM s WHERE k > 1;",
                },
            ],
        }
    ],
}


class _Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["ksql"]
        body = json.dumps(ANSWERS[said]).encode()
        self.send_response(200 if self.path == "/ksql" else 404)
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Server) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_a_running_server_is_asked_for_its_statements(
    cli: Cli, server: str, working_directory: Path
) -> None:
    ran = cli("import", "ksql", server, "--json", "--to", str(working_directory / "project"))
    assert ran.code == 0, ran
    assert [item["makes"] for item in ran.json["statements"]] == [
        "type PLACE",
        "stream S",
        "stream T",
        "insert into T",
    ]
    made = (working_directory / "project" / "001-type-place.sql").read_text()
    assert made == (
        "CREATE TYPE `PLACE` AS STRUCT<`CITY` STRING, `SIZES` ARRAY<BIGINT>,"
        " `RANKS` MAP<STRING, DOUBLE>, `PRICE` DECIMAL(6, 2)>;\n"
    )


@pytest.mark.usefixtures("working_directory")
def test_a_server_that_does_not_answer_is_named(cli: Cli, server: str) -> None:
    nobody = cli("import", "ksql", "http://127.0.0.1:1")
    assert (nobody.code, "SQL_SERVER" in nobody.err) == (1, True)
    elsewhere = cli("import", "ksql", f"{server}/other")
    assert "404" in elsewhere.err
