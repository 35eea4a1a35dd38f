from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.sql.query_place import checkpoint_of, engine_of, is_taken, taken
from penstock.sql.running import Running, run_here
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS, opened, rows, told

COPY = "CREATE STREAM copy AS SELECT id, item FROM orders;"
MORE = "INSERT INTO copy SELECT id, item FROM orders;"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def state(session: SqlSession, id_: str) -> str:
    return next(str(row[1]) for row in rows(session, "SHOW QUERIES;") if row[0] == id_)


@contextmanager
def run_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What `penstock sql run --here` does, in a thread that a flag ends as Ctrl-C would."""
    ended = threading.Event()
    monkeypatch.setattr("penstock.sql.running._LOOK", 0.05)

    def run() -> None:
        with opened(home) as session:

            def wanted() -> object:
                if ended.is_set():
                    raise KeyboardInterrupt
                return session.definitions().runnable

            run_here(home, wanted)  # type: ignore[arg-type]

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_query_is_paused_and_resumed_for_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{COPY}")
        with run_elsewhere(tmp_path, monkeypatch):
            told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
            until(lambda: rows(session, "SELECT id FROM copy;") == [("a",)])
            assert state(session, "CSAS_COPY_2") == "running"
            assert told(session, "PAUSE CSAS_COPY_2;") == "query CSAS_COPY_2 paused"
            assert state(session, "CSAS_COPY_2") == "paused"
            until(lambda: not is_taken(tmp_path, "CSAS_COPY_2"))
            told(session, "INSERT INTO orders VALUES ('b', 'x', 1);")
            (row,) = rows(session, "SHOW QUERIES EXTENDED;")
            assert row == ("CSAS_COPY_2", "paused", "its process", "orders", 0, 1, 2, 1)
            assert told(session, "PAUSE ALL;") == "query CSAS_COPY_2 is paused already"
            assert told(session, "RESUME ALL;") == "query CSAS_COPY_2 resumed"
            until(lambda: rows(session, "SELECT id FROM copy;") == [("a",), ("b",)])
            told(session, "TERMINATE ALL;")
            until(lambda: not is_taken(tmp_path, "CSAS_COPY_2"))


def test_a_query_that_is_made_anew_begins_anew(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, f"{ORDERS}{COPY}INSERT INTO orders VALUES ('a', 'x', 1);")
        assert rows(session, "SELECT id FROM copy;") == [("a",)]
        told(session, "DROP STREAM copy DELETE TOPIC;")
        assert not checkpoint_of(tmp_path, "CSAS_COPY_2").exists()
        told(session, COPY)
        assert rows(session, "SELECT id FROM copy;") == [("a",)]


def test_a_paused_query_does_not_run_here(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, f"{ORDERS}{COPY}{MORE}PAUSE CSAS_COPY_2;")
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        assert rows(session, "SELECT id FROM copy;") == [("a",)]
        told(session, "RESUME CSAS_COPY_2;")
        assert rows(session, "SELECT id FROM copy;") == [("a",), ("a",)]


def test_an_id_is_given_once(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{COPY}")
        asked = "INSERT INTO copy WITH (QUERY_ID='mine') SELECT id, item FROM orders;"
        assert told(session, asked) == "query MINE created"
        with pytest.raises(SqlError, match=r"SQL_QUERY_EXISTS.*MINE"):
            told(session, asked)
        assert told(session, "TERMINATE mine;") == "query MINE terminated"


def test_a_query_stays_with_the_engine_that_began_it(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{COPY}INSERT INTO orders VALUES ('a', 'x', 1);")
        with taken(tmp_path, "CSAS_COPY_2", "spark") as ours:
            assert ours
        assert engine_of(tmp_path, "CSAS_COPY_2") == "spark"
        with taken(tmp_path, "CSAS_COPY_2", "here") as ours:
            assert not ours
        running = Running(tmp_path)
        running.follow(session.definitions().runnable)
        running.settle(session._log, 1)
        running.stop()
        assert rows(session, "SELECT id FROM copy;") == []
        (row,) = rows(session, "SHOW QUERIES EXTENDED;")
        assert row[1:3] == ("not running", "Spark")
