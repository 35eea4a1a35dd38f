from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.connect.database import Session, quoted, transaction
from penstock.errors import SetupError, StoreError
from penstock.model.store import Store, store_of


def a_store(tmp_path: Path) -> Store:
    return store_of(tmp_path / "new" / "results.sqlite")


def test_what_a_transaction_did_is_seen_by_the_next(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    with transaction(store) as session:
        assert session.columns("t") is None
        session.run('CREATE TABLE t (a INTEGER, "b ""c""" TEXT)')
        session.run_many("INSERT INTO t VALUES (?, ?)", [(1, "x"), (2, "y")])
    with transaction(store) as session:
        assert session.columns("t") == ["a", 'b "c"']
        assert session.run("SELECT a FROM t WHERE a > ?", (1,)) == [(2,)]


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    with transaction(store) as session:
        session.run("CREATE TABLE t (a INTEGER)")
    with pytest.raises(StoreError), transaction(store) as session:
        session.run_many("INSERT INTO t VALUES (?)", [(1,), (2, 3)])
    with transaction(store) as session:
        assert session.run("SELECT * FROM t") == []


def test_what_the_database_refuses_has_a_code_and_its_words(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match=r"STORE_FAILED.*no such table"),
        transaction(a_store(tmp_path)) as session,
    ):
        session.run("SELECT * FROM nowhere")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database" * 100)
    with pytest.raises(StoreError, match="STORE_FAILED"), transaction(store_of(tmp_path / "text")):
        pass


def test_without_its_driver_postgres_is_refused_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    store = store_of("postgresql://somewhere/db")
    with pytest.raises(SetupError, match="STORE_DRIVER") as caught, transaction(store):
        pass
    assert "penstock[postgres]" in caught.value.hint


def test_a_server_gets_its_own_marks_and_names_stay_names() -> None:
    class Cursor:
        description = None

        def execute(self, statement: str, values: object) -> None:
            self.ran = (statement, values)

    cursor = Cursor()
    session = Session(cursor, Store("postgres", "postgresql://h/d"))
    session.run(f"UPDATE {quoted('a?%')} SET x = ? WHERE y = ?", (1, 2))
    assert cursor.ran == ('UPDATE "a?%%" SET x = %s WHERE y = %s', (1, 2))
