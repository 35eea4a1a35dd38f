from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import duckdb
import pytest

from penstock.sql.session import SqlSession
from tests.sql.kit import opened, rows, told
from tests.sql.random_questions import Question, random_question, random_rows

STREAM = (
    "CREATE STREAM s (n INT, k STRING, g INT, v INT)"
    " WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON', PARTITIONS=2);"
)
TABLE = (
    "CREATE TABLE t (k STRING PRIMARY KEY, h INT, w INT)"
    " WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON', PARTITIONS=1);"
)


def shown(value: object) -> str:
    return "NULL" if value is None else repr(value)


@contextmanager
def both(home: Path, seed: int) -> Iterator[tuple[SqlSession, duckdb.DuckDBPyConnection]]:
    """Give the same rows to both; the table had others before, which do not count."""
    random = Random(seed)
    stream, table = random_rows(random)
    with opened(home / str(seed)) as session, duckdb.connect() as other:
        told(session, STREAM.format("s") + TABLE.format("t"))
        other.execute("CREATE TABLE s (n INT, k VARCHAR, g INT, v INT)")
        other.execute("CREATE TABLE t (k VARCHAR, h INT, w INT)")
        before = [(key, 0, 0) for key, _, _ in table]
        for name, found in (("t", before), ("s", stream), ("t", table)):
            if found:
                values = ", ".join(f"({', '.join(map(shown, row))})" for row in found)
                told(session, f"INSERT INTO {name} VALUES {values};")
                if found is not before:
                    other.execute(f"INSERT INTO {name} VALUES {values}")
        yield session, other


def check(question: Question, session: SqlSession, other: duckdb.DuckDBPyConnection) -> None:
    ours = rows(session, question.ours)
    theirs = other.execute(question.theirs).fetchall()
    if not question.ordered:
        ours, theirs = sorted(ours, key=repr), sorted(theirs, key=repr)
    assert ours == theirs, question.ours


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_duckdb(tmp_path: Path, seed: int) -> None:
    with both(tmp_path, seed) as (session, other):
        random = Random(1000 + seed)
        for _ in range(10):
            check(random_question(random), session, other)


@pytest.mark.soak
def test_many_answers_are_those_of_duckdb(tmp_path: Path) -> None:
    for seed in range(100, 150):
        with both(tmp_path, seed) as (session, other):
            random = Random(seed)
            for _ in range(40):
                check(random_question(random), session, other)
