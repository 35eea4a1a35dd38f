from __future__ import annotations

from pathlib import Path

import pytest

from penstock.front.sql.parse import parse_statement
from penstock.serve.access.role import Role
from penstock.serve.access.statement_role import statement_role
from tests.serve.server_kit import asked


@pytest.mark.parametrize(
    ("sql", "role"),
    [
        ("SELECT * FROM a;", Role.READER),
        ("SHOW STREAMS;", Role.READER),
        ("DESCRIBE a;", Role.READER),
        ("PRINT a;", Role.READER),
        ("EXPLAIN SELECT * FROM a;", Role.READER),
        ("SET 'auto.offset.reset' = 'earliest';", Role.READER),
        ("ALTER SYSTEM 'auto.offset.reset' = 'earliest';", Role.WRITER),
        (
            "CREATE STREAM a (id INT KEY) WITH (kafka_topic = 'a', value_format = 'json');",
            Role.WRITER,
        ),
        ("CREATE TABLE b AS SELECT id, COUNT(*) FROM a GROUP BY id;", Role.WRITER),
        ("INSERT INTO a VALUES (1);", Role.WRITER),
        ("DROP STREAM a;", Role.WRITER),
        ("TERMINATE q;", Role.WRITER),
        ("RUN SCRIPT '/etc/passwd';", Role.ADMIN),
        ("SELECT * FROM 'secrets.jsonl';", Role.ADMIN),
        ("EXPLAIN SELECT * FROM 'secrets.jsonl';", Role.ADMIN),
        ("CREATE STREAM c AS SELECT * FROM 'secrets.jsonl';", Role.ADMIN),
        ("CREATE FUNCTION f (x INT) RETURNS INT LANGUAGE python AS 'return x';", Role.ADMIN),
        ("DROP FUNCTION f;", Role.ADMIN),
    ],
)
def test_a_statement_needs_a_role(sql: str, role: Role) -> None:
    assert statement_role(parse_statement(sql)) is role


def test_the_shell_is_answered_what_its_role_may(tmp_path: Path) -> None:
    with asked(tmp_path) as server:
        reader = server.bearer(Role.READER)
        looked = server.client.post("/sql", json={"sql": "SHOW STREAMS;"}, headers=reader)
        assert "ROLE_NEEDED" not in looked.text
        refused = server.client.post("/sql", json={"sql": "DROP STREAM a;"}, headers=reader)
        assert "ROLE_NEEDED" in refused.text
