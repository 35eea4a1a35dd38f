from __future__ import annotations

import json
import threading
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.cli.sql_answer import cell_text
from penstock.cli.sql_live import LatestRows
from penstock.cli.sql_shell import completer, run_shell
from penstock.errors import SqlError
from penstock.serve.server import HttpServer
from penstock.serve.sql_api import sql_app
from penstock.sql.plain_value import plain
from penstock.sql.server_token import made_token
from penstock.sql.session import SqlSession
from tests.cli.shell import Cli
from tests.sql.page_views import Q1, Q2, Q3, Q4, Q5, Q6, aged

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, amount INT)"
    " WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);"
)

PAGE_VIEWS = "".join((Q1, Q2, Q3, Q5, Q4))
VISITORS = Q6.format("age")


def produce_page_views(cli: Cli) -> None:
    cli.ok("topics", "create", "pageviews")
    cli.ok("topics", "create", "users")
    people = [
        {"registertime": 1, "gender": "F", "regionid": "R1", "userid": "User_1", "age": 30},
        {"registertime": 2, "gender": "M", "regionid": "R2", "userid": "User_2", "age": 40},
    ]
    lines = "".join(f"{person['userid']}\t{json.dumps(person)}\n" for person in people)
    cli.ok("produce", "users", "--key-separator", "\t", stdin=lines.encode())
    views = ["1413215518000,User_1,P1", "1413215519000,User_2,P2", "1413215520000,User_3,P1"]
    views.append("1413215521000,User_1,P3")
    cli.ok("produce", "pageviews", stdin="".join(f"{view}\n" for view in views).encode())


def answered(cli: Cli, statement: str) -> list[dict[str, object]]:
    """The rows that a query is answered with."""
    ran = cli.ok("sql", "--here", "--json", "-e", statement)
    rows: list[dict[str, object]] = json.loads(ran.lines[-1])["rows"]
    return rows


def test_the_six_statements_of_a_ksql_course_run_as_they_stand(
    cli: Cli, working_directory: Path
) -> None:
    produce_page_views(cli)
    script = working_directory / "views.sql"
    script.write_text(PAGE_VIEWS)
    assert len(cli.ok("sql", "-f", "views.sql", "--here").lines) == 5
    transformed = answered(cli, "SELECT * FROM pageviews_transformed ORDER BY viewtime;")
    assert [row["USERID"] for row in transformed] == ["User_1", "User_2", "User_1"]
    assert transformed[0]["TIMESTRING"] == "2014-10-13 15:51:58.000"
    topics = json.loads(cli.ok("sql", "--json", "-e", "SHOW TOPICS;").out)["rows"]
    partitions = {topic["topic"]: topic["partitions"] for topic in topics}
    assert partitions["PAGEVIEWS_TRANSFORMED"] == 5
    enriched = answered(cli, "SELECT userid, regionid FROM pageviews_enriched WHERE gender = 'M';")
    assert enriched == [{"USERID": "User_2", "REGIONID": "R2"}]
    counts = answered(cli, "SELECT * FROM pageviews_per_region_per_minute;")
    assert sorted((row["WINDOWSTART"], row["REGIONID"], row["KSQL_COL_0"]) for row in counts) == [
        (1413215460000, "R1", 1),
        (1413215460000, "R2", 1),
        (1413215520000, "R1", 1),
    ]
    script.write_text(VISITORS)
    refused = cli("sql", "-f", "views.sql", "--here")
    assert refused.code == 1
    assert 'column "AGE" does not exist' in refused.err
    assert "AS SELECT age FROM" in refused.err
    assert "          ^^^" in refused.err


def test_the_last_of_them_runs_where_the_source_has_its_column(
    cli: Cli, working_directory: Path
) -> None:
    produce_page_views(cli)
    (working_directory / "views.sql").write_text(aged(PAGE_VIEWS) + VISITORS)
    cli.ok("sql", "-f", "views.sql", "--here")
    printed = cli.ok("sql", "--json", "-e", "PRINT visitors FROM BEGINNING LIMIT 3;")
    assert sorted(json.loads(line)["value"] for line in printed.lines) == ["30", "30", "40"]


def test_statements_come_from_the_command_line_or_from_standard_input(cli: Cli) -> None:
    ran = cli.ok("sql", "-e", ORDERS, "-e", "INSERT INTO orders VALUES ('a', 1);")
    assert ran.lines == ["stream ORDERS created", "1 row written to ORDERS"]
    shown = cli.ok("sql", stdin=b"SELECT * FROM orders;")
    assert shown.lines == ["ID  AMOUNT", "a   1"]
    assert "1 row as of orders-0@1" in shown.err
    followed = cli.ok(
        "sql",
        "-e",
        "SET 'auto.offset.reset'='earliest'; SELECT id FROM orders EMIT CHANGES LIMIT 1;",
    )
    assert followed.lines[1:] == ["ID", "a"]


def test_an_error_underlines_its_place_and_ends_with_1(cli: Cli) -> None:
    ran = cli("sql", "-e", "SELECT *\nFROM nothing;")
    assert ran.code == 1
    assert "error [SQL_SOURCE_MISSING] line 2, column 6" in ran.err
    assert "FROM nothing\n     ^^^^^^^" in ran.err
    assert cli("sql", "-f", "none.sql").code == 1


def test_a_file_is_checked_and_nothing_is_done(cli: Cli, working_directory: Path) -> None:
    file = working_directory / "orders.sql"
    file.write_text(f"{ORDERS}\nCREATE STREAM big AS SELECT * FROM orders WHERE amount > 1;\n")
    assert cli("sql", "--check", "orders.sql").code == 0
    file.write_text(f"{ORDERS}\nSELECT FROM;\nSELECT nothing FROM orders;\n")
    ran = cli("sql", "--check", "orders.sql")
    assert ran.code == 1
    assert "[SQL_SYNTAX] orders.sql: line 2, column" in ran.err
    assert "[SQL_COLUMN_MISSING] orders.sql: line 3, column 8" in ran.err
    problems = cli("sql", "--check", "orders.sql", "--json").json["problems"]
    assert [problem["code"] for problem in problems] == ["SQL_SYNTAX", "SQL_COLUMN_MISSING"]
    assert cli.ok("sql", "--json", "-e", "SHOW STREAMS;").json["rows"] == []


def test_a_project_is_planned_applied_and_then_as_it_should_be(
    cli: Cli, working_directory: Path
) -> None:
    project = working_directory / "project"
    project.mkdir()
    (project / "orders.sql").write_text(ORDERS)
    planned = cli("sql", "plan", "project")
    assert planned.code == 2
    assert planned.lines[1].startswith("create  source:ORDERS")
    assert cli.ok("sql", "apply", "project").lines == ["stream ORDERS created"]
    assert cli.ok("sql", "apply", "project").lines == ["nothing to be changed"]
    assert cli.ok("sql", "plan", "project", "--json").json["steps"][0]["does"] == "keep"
    refused = cli("sql", "plan")
    assert refused.code == 2
    assert "SQL_ACTION" in refused.err


def test_the_queries_of_the_catalog_are_run_as_far_as_there_is_something(cli: Cli) -> None:
    assert cli.ok("sql", "run").lines == ["the catalog has no queries to be run"]
    assert "SQL_SHARED" in cli("sql", "run", "--shared", "--bounded").err
    cli.ok("sql", "-e", f"{ORDERS} CREATE STREAM big AS SELECT * FROM orders WHERE amount > 1;")
    cli.ok("sql", "-e", "INSERT INTO orders VALUES ('a', 1), ('b', 2);")
    assert cli.ok("sql", "-e", "SELECT * FROM big;", "--json").json["rows"] == []
    cli.ok("sql", "run", "--here", "--bounded")
    found = cli.ok("sql", "-e", "SELECT id FROM big;", "--json").json["rows"]
    assert found == [{"ID": "b"}]


def typed(*lines: str | type[BaseException]) -> list[str | type[BaseException]]:
    return [*lines, EOFError]


def shelled(
    home: Path, lines: list[str | type[BaseException]], capsys: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    """Type lines into a shell, or keys that interrupt it; give what it wrote and said."""
    left = iter(lines)
    prompts: list[str] = []

    def read_line(prompt: str) -> str:
        prompts.append(prompt)
        line = next(left)
        if isinstance(line, str):
            return line
        raise line

    with SqlSession(home) as session:
        run_shell(session, json=False, read_line=read_line)
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_the_shell_goes_on_after_an_error_and_over_several_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = typed("help", ORDERS, "", "SELEC;", "SELECT", "forgotten", KeyboardInterrupt)
    lines[-1:] = ["INSERT INTO orders", "VALUES ('a', 1);", "SELECT id FROM orders;", "exit"]
    out, err = shelled(tmp_path, lines, capsys)
    assert "ends with a semicolon" in err
    assert "SQL_SYNTAX" in err
    assert out.splitlines()[-2:] == ["ID", "a"]


def test_the_shell_ends_with_its_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = shelled(tmp_path, typed("SHOW STREAMS;"), capsys)
    assert out.splitlines() == ["stream  topic  key format  value format  windowed"]


def test_ctrl_c_stops_a_query_and_not_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("penstock.cli.sql_shell.write_answer", interrupted)
    _, err = shelled(tmp_path, typed("SHOW STREAMS;", "SHOW TABLES;"), capsys)
    assert err.count("stopped") == 2


def test_the_shell_tells_once_of_a_query_that_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = {"CSAS_BIG_2": SqlError("SQL_TOPIC_MISSING", "its topic is gone")}
    monkeypatch.setattr(SqlSession, "follow_queries", lambda _: failed)
    _, err = shelled(tmp_path, typed("SHOW STREAMS;", "SHOW TABLES;"), capsys)
    assert err.count("query CSAS_BIG_2 has ended: its topic is gone") == 1


def test_words_are_completed_as_they_were_begun(tmp_path: Path) -> None:
    with SqlSession(tmp_path) as session:
        list(session.run(ORDERS))
        complete = completer(session)
        assert complete("ORDE", 0) == "ORDER"
        assert complete("ORDE", 1) == "ORDERS"
        assert complete("ORDE", 2) is None
        assert complete("amou", 0) == "amount"
        assert complete("timestamptos", 0) == "timestamptostring"


def test_values_are_shown_as_sql_says_them() -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert cell_text(None) == "null"
    assert cell_text(value=True) == "true"
    assert cell_text([1, {"a": b"x"}]) == "[1, {a=eA==}]"
    assert plain({"at": moment, "on": date(2020, 1, 2), "of": Decimal("1.50")}) == {
        "at": "2020-01-02T03:04:05.000",
        "on": "2020-01-02",
        "of": "1.50",
    }


def test_rows_of_a_table_take_the_place_of_those_before_them() -> None:
    rows = LatestRows((0,))
    for row in (("a", 1), ("b", 1), ("a", 2), ("c", 1), ("b", None)):
        rows.take(row)
    assert rows.last(5) == ([("a", 2), ("c", 1)], 0)
    assert rows.last(1) == ([("c", 1)], 1)


def test_an_error_of_a_file_names_it(cli: Cli, working_directory: Path) -> None:
    (working_directory / "wrong.sql").write_text("SHOW STREAMS;\nSELECT * FROM nothing;\n")
    ran = cli("sql", "-f", "wrong.sql")
    assert ran.code == 1
    assert "wrong.sql: line 2, column 15" in ran.err


def test_a_server_answers_in_the_place_of_the_log(cli: Cli, working_directory: Path) -> None:
    home = working_directory / ".penstock"
    with SqlSession(home, here=True) as session:
        app = sql_app(session, made_token(home), threading.Lock())
        with HttpServer(app) as server:
            cli("sql", "--server", server.url, "-e", ORDERS)
            asked = cli("sql", "--server", server.url, "-e", "SHOW STREAMS;", "--json")
            wrong = cli("sql", "--server", server.url, "-e", "SELEC 1;")
            plan = cli("sql", "--server", server.url, "plan", ".")
    assert asked.json["rows"][0]["stream"] == "ORDERS"
    assert (wrong.code, "SQL_SYNTAX" in wrong.err) == (1, True)
    assert (plan.code, "SQL_ACTION" in plan.err) == (2, True)
    gone = cli("sql", "--server", server.url, "-e", "SHOW STREAMS;")
    assert (gone.code, "SQL_SERVER" in gone.err) == (1, True)
