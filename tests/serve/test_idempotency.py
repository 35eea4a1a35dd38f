from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from fastapi import Body, FastAPI, Response
from starlette.testclient import TestClient

from penstock.clock import ManualClock
from penstock.errors import StorageError
from penstock.serve.answer_store import Answer, AnswerStore
from penstock.serve.idempotency import Idempotency

DAY = 24 * 3600 * 1000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    found = AnswerStore(tmp_path / "server" / "answers.db")
    yield found
    found.close()


def client(store: AnswerStore) -> TestClient:
    app = FastAPI()
    numbers = count(1)

    @app.post("/api/v1/things", status_code=201)
    def things(size: int = Body(embed=True)) -> dict[str, str | int]:
        return {"number": next(numbers), "text": "x" * size}

    @app.post("/api/v1/failing")
    def failing() -> Response:
        return Response(str(next(numbers)), 503)

    @app.post("/api/v1/tokens")
    def tokens() -> int:
        return next(numbers)

    app.add_middleware(Idempotency, store, "/api/v1/")
    return TestClient(app)


def key(word: str) -> dict[str, str]:
    return {"Idempotency-Key": word}


def test_the_same_request_is_carried_out_once(store: AnswerStore) -> None:
    asked = client(store)
    answers = [asked.post("/api/v1/things", json={"size": 1}, headers=key("a")) for _ in range(3)]
    assert [answer.json()["number"] for answer in answers] == [1, 1, 1]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert [answer.headers.get("idempotency-replayed") for answer in answers] == [
        None,
        "true",
        "true",
    ]
    assert asked.post("/api/v1/things", json={"size": 1}, headers=key("b")).json()["number"] == 2
    assert asked.post("/api/v1/things", json={"size": 1}).json()["number"] == 3


def test_a_key_is_of_one_request(store: AnswerStore) -> None:
    asked = client(store)
    asked.post("/api/v1/things", json={"size": 1}, headers=key("a"))
    for path, body in (("/api/v1/things", {"size": 2}), ("/api/v1/things?x=1", {"size": 1})):
        refused = asked.post(path, json=body, headers=key("a"))
        assert (refused.status_code, refused.json()["code"]) == (422, "KEY_REUSED")
    for word in ("", "x" * 256):
        refused = asked.post("/api/v1/things", json={"size": 1}, headers=key(word))
        assert refused.json()["code"] == "KEY_FORM"


def test_what_failed_may_be_tried_again(store: AnswerStore) -> None:
    asked = client(store)
    assert [asked.post("/api/v1/failing", headers=key("a")).text for _ in range(2)] == ["1", "2"]


def test_an_answer_that_is_too_large_is_not_kept_but_known(store: AnswerStore) -> None:
    asked = client(store)
    body = {"size": 1_000_001}
    assert asked.post("/api/v1/things", json=body, headers=key("a")).status_code == 201
    refused = asked.post("/api/v1/things", json=body, headers=key("a"))
    assert (refused.status_code, refused.json()["code"]) == (409, "KEY_ANSWER_LOST")


def test_answers_with_secrets_are_never_kept(store: AnswerStore, tmp_path: Path) -> None:
    asked = client(store)
    assert [asked.post("/api/v1/tokens", headers=key("a")).json() for _ in range(2)] == [1, 2]


def test_a_request_under_way_is_told_and_one_that_a_dead_server_had_is_undecided(
    store: AnswerStore, tmp_path: Path
) -> None:
    asked = client(store)
    store_seen: list[str] = []
    begin = store.begin

    def noticing(key: str, request: str) -> object:
        store_seen.extend((key, request))
        return begin(key, request)

    store.begin = noticing  # type: ignore[method-assign, assignment]  # to learn the key
    asked.post("/api/v1/failing", headers=key("a"))
    assert begin(store_seen[0], store_seen[1]) == "new"
    under_way = asked.post("/api/v1/failing", headers=key("a"))
    assert (under_way.status_code, under_way.json()["code"]) == (409, "KEY_IN_USE")
    store.close()
    later = AnswerStore(tmp_path / "server" / "answers.db")
    undecided = client(later).post("/api/v1/failing", headers=key("a"))
    assert (undecided.status_code, undecided.json()["code"]) == (409, "KEY_UNDECIDED")
    later.close()


def test_answers_outlive_the_server_for_a_day(tmp_path: Path) -> None:
    clock = ManualClock(DAY)
    path = tmp_path / "answers.db"
    first = AnswerStore(path, clock=clock)
    assert first.begin("a", "r") == "new"
    first.end("a", Answer(201, "text/plain", b"made"))
    first.close()
    second = AnswerStore(path, clock=ManualClock(2 * DAY))
    assert second.begin("a", "r") == Answer(201, "text/plain", b"made")
    second.close()
    third = AnswerStore(path, clock=ManualClock(2 * DAY + 1))
    assert third.begin("a", "r") == "new"
    third.close()
    assert path.stat().st_mode & 0o077 == 0


def test_no_more_answers_are_kept_than_said(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    store = AnswerStore(path, most=3)
    for number in range(6):
        assert store.begin(str(number), "r") == "new"
        store.end(str(number), Answer(200, "", b""))
    store.close()
    with sqlite3.connect(path) as database:
        assert database.execute("select count(*) from answers").fetchone() == (3,)
    database.close()


def test_a_file_that_is_damaged_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"no database" * 100)
    store = AnswerStore(path)
    with pytest.raises(StorageError, match="ANSWERS_UNREADABLE"):
        store.begin("a", "r")
    store.close()
