from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.sql.project import steps_to
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS, PEOPLE, opened, rows, told


def plan(session: SqlSession, project: Path) -> dict[str, str]:
    return {step.key: step.does for step in steps_to(project, session.definitions())}


def apply(session: SqlSession, project: Path) -> list[str]:
    steps = steps_to(project, session.definitions())
    return [answer.words for answer in session.apply([step for step in steps if step.changes])]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    # The query comes first by name: what it reads is made before it all the same.
    (folder / "a_big.sql").write_text("CREATE STREAM big AS SELECT * FROM orders;")
    (folder / "orders.sql").write_text(f"{ORDERS}\nINSERT INTO big SELECT * FROM orders;")
    return folder


def test_what_is_applied_is_there_and_a_second_time_changes_nothing(
    tmp_path: Path, project: Path
) -> None:
    with opened(tmp_path) as session:
        assert list(plan(session, project).values()) == ["create"] * 3
        assert rows(session, "SHOW STREAMS;") == []
        assert len(apply(session, project)) == 3
        assert [name for name, *_ in rows(session, "SHOW STREAMS;")] == ["BIG", "ORDERS"]
        assert set(plan(session, project).values()) == {"keep"}
        assert apply(session, project) == []


def test_a_changed_statement_replaces_and_others_are_left(tmp_path: Path, project: Path) -> None:
    with opened(tmp_path) as session:
        apply(session, project)
        told(session, PEOPLE)
        (project / "a_big.sql").write_text("CREATE STREAM big AS SELECT * FROM orders WHERE TRUE;")
        assert plan(session, project)["source:BIG"] == "replace"
        assert plan(session, project)["source:PEOPLE"] == "leave"
        apply(session, project)
        assert set(plan(session, project).values()) == {"keep", "leave"}


def test_what_is_wrong_in_a_file_is_told_with_its_path(tmp_path: Path, project: Path) -> None:
    (project / "b.sql").write_text("\nSELECT 1;")
    with opened(tmp_path) as session:
        with pytest.raises(SqlError, match=r"SQL_PROJECT.*b\.sql: line 2"):
            plan(session, project)
        (project / "b.sql").write_text("CREATE STREAM c AS SELECT * FROM nothing;")
        with pytest.raises(SqlError, match=r"SQL_SOURCE_MISSING.*b\.sql: line 1"):
            plan(session, project)
        with pytest.raises(SqlError, match=r"SQL_PROJECT.*no \.sql files"):
            plan(session, tmp_path / "none")


EVERYTHING = """
SET 'ksql.persistence.default.format.value' = 'JSON';
DEFINE least = '3';
CREATE TYPE price AS STRUCT<amount INT, unit STRING>;
CREATE FUNCTION twice(x INT) RETURNS INT LANGUAGE PYTHON AS $$ x * 2 $$;
CREATE STREAM sold (id STRING KEY, paid PRICE) WITH (KAFKA_TOPIC='sold', PARTITIONS=1);
CREATE STREAM doubled AS SELECT id, twice(paid->amount) AS n FROM sold;
CREATE TABLE counted AS SELECT id, COUNT(*) AS n FROM doubled WHERE n > ${least} GROUP BY id;
INSERT INTO doubled SELECT id, 1 AS n FROM sold;
"""


def test_all_kinds_of_statements_are_kept_and_replaced(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    file = project / "all.sql"
    file.write_text(EVERYTHING)
    with opened(tmp_path) as session:
        assert list(plan(session, project).values()) == ["create"] * 6
        assert len(apply(session, project)) == 6
        told(session, "ALTER SYSTEM 'auto.offset.reset' = 'earliest';")
        told(session, "CREATE STREAM mine AS SELECT * FROM sold;")
        assert set(plan(session, project).values()) == {"keep", "leave"}
        changed = EVERYTHING.replace("unit STRING", "unit STRING, tax INT")
        file.write_text(changed.replace("x * 2", "x + x").replace("'3'", "'4'"))
        replaced = {key for key, does in plan(session, project).items() if does == "replace"}
        assert replaced == {"type:PRICE", "function:TWICE", "source:COUNTED"}
        assert len(apply(session, project)) == 3
        assert apply(session, project) == []
        with pytest.raises(SqlError, match=r"SQL_TYPE_USED.*SOLD"):
            told(session, "DROP TYPE price;")
        told(session, "TERMINATE ALL;")
        assert plan(session, project)["source:DOUBLED"] == "replace"
