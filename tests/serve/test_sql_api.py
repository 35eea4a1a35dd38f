"""SQL over HTTP: the shell's statements answered by a server, alike and in the same words."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from penstock.errors import SqlError
from penstock.log.remote.server_token import read_token
from penstock.serve.server import HttpServer
from penstock.serve.sql_api import sql_app
from penstock.sql.answer import Followed, Listed, Told
from penstock.sql.remote_session import RemoteSession
from penstock.sql.server_token import made_token
from penstock.sql.session import SqlSession
from tests.sql.kit import ORDERS


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with SqlSession(tmp_path, here=True) as session:
        app = sql_app(session, made_token(tmp_path), threading.Lock())
        with HttpServer(app) as server:
            yield server.url


@pytest.fixture
def remote(url: str, tmp_path: Path) -> RemoteSession:
    return RemoteSession(url, tmp_path)


def test_statements_are_answered_as_in_a_session_of_ones_own(remote: RemoteSession) -> None:
    made, written = remote.run(ORDERS + "INSERT INTO orders VALUES ('a', 'tea', 2);")
    assert isinstance(made, Told)
    assert isinstance(written, Told)
    assert written.words == "1 row written to ORDERS"
    (found,) = remote.run("SELECT id, amount FROM orders;")
    assert isinstance(found, Listed)
    assert found.columns == ("ID", "AMOUNT")
    assert found.rows == (("a", 2),)
    assert {str(at): offset for at, offset in found.offsets.items()} == {"orders-0": 1}


def test_queries_run_at_the_server(remote: RemoteSession) -> None:
    list(remote.run(ORDERS))
    count = "CREATE TABLE counted AS SELECT item, COUNT(*) AS n FROM orders GROUP BY item;"
    list(remote.run(count + "INSERT INTO orders VALUES ('a', 'tea', 2), ('b', 'tea', 3);"))
    (found,) = remote.run("SELECT * FROM counted WHERE item = 'tea';")
    assert isinstance(found, Listed)
    assert found.rows == (("tea", 2),)


def test_rows_are_followed_while_others_ask(
    remote: RemoteSession, url: str, tmp_path: Path
) -> None:
    list(remote.run(ORDERS))
    texts = remote.run(
        "SET 'auto.offset.reset' = 'earliest'; SELECT id FROM orders EMIT CHANGES LIMIT 2;"
    )
    assert isinstance(next(texts), Told)
    followed = next(texts)
    assert isinstance(followed, Followed)
    other = RemoteSession(url, tmp_path)
    list(other.run("INSERT INTO orders VALUES ('a', 'tea', 2), ('b', 'milk', 3);"))
    assert [row for row in followed.rows if row is not None] == [("a",), ("b",)]
    assert sum(followed.offsets.values()) == 2
    assert list(texts) == []


def test_settings_and_variables_are_those_of_who_asks(
    remote: RemoteSession, url: str, tmp_path: Path
) -> None:
    list(remote.run(ORDERS + "SET 'auto.offset.reset' = 'earliest'; DEFINE least = '1';"))
    (answer,) = remote.run("SELECT ${least} AS n;")
    assert isinstance(answer, Listed)
    assert answer.rows == ((1,),)
    other = RemoteSession(url, tmp_path)
    with pytest.raises(SqlError, match="least"):
        list(other.run("SELECT ${least} AS n;"))
    assert (remote.settings, other.settings) == ({"auto.offset.reset": "earliest"}, {})


def test_what_is_refused_is_told_in_the_same_words(remote: RemoteSession) -> None:
    with pytest.raises(SqlError, match="SQL_SOURCE_MISSING") as refused:
        list(remote.run("SELECT * FROM nothing;"))
    assert "^^^^^^^" in refused.value.fact


def test_words_are_completed_from_the_servers_catalog(remote: RemoteSession) -> None:
    assert "AMOUNT" not in remote.words()
    list(remote.run(ORDERS))
    assert {"AMOUNT", "SELECT"} <= set(remote.words())


def test_who_does_not_know_the_token_is_turned_away(url: str, tmp_path: Path) -> None:
    assert httpx.post(f"{url}/sql", json={"sql": "SHOW STREAMS;"}).status_code == 401
    with pytest.raises(SqlError, match="SQL_SERVER"):
        list(RemoteSession(url, tmp_path / "elsewhere").run("SHOW STREAMS;"))
    assert (tmp_path / "sql-server.token").stat().st_mode & 0o077 == 0
    assert made_token(tmp_path) == read_token(tmp_path) != ""


def test_bodies_that_are_no_question_are_refused(url: str, tmp_path: Path) -> None:
    known = {"Authorization": f"Bearer {read_token(tmp_path)}"}
    for body in (b"", b"[]", b'{"sql": 1}', b'{"sql": "' + b"x" * 1_000_001 + b'"}'):
        answer = httpx.post(f"{url}/sql", content=body, headers=known)
        assert answer.status_code == 422


def test_a_server_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(SqlError, match=r"SQL_SERVER.*127.0.0.1:1"):
        list(RemoteSession("http://127.0.0.1:1", tmp_path).run("SHOW STREAMS;"))
