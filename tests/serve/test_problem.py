from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from penstock.errors import (
    CorruptionError,
    JobError,
    LogError,
    PenstockError,
    SqlError,
    StorageError,
    TopicError,
    UsageError,
)
from penstock.serve.observed import Observed
from penstock.serve.problem import Problem, tell_problems
from penstock.serve.problem_status import status_of
from penstock.serve.request_counts import RequestCounts
from penstock.serve.structured_log import written_log
from tests.serve.server_kit import asked


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TopicError("TOPIC_MISSING", "x"), 404),
        (JobError("JOB_MISSING", "x"), 404),
        (TopicError("TOPIC_EXISTS", "x"), 409),
        (JobError("JOB_BUSY", "x"), 409),
        (SqlError("SQL_SOURCE_MISSING", "x"), 400),
        (UsageError("OPTIONS_CONFLICT", "x"), 400),
        (TopicError("TOPIC_NAME", "x"), 400),
        (StorageError("DISK_FULL", "x"), 503),
        (CorruptionError("TOPIC_CORRUPT", "x"), 503),
        (LogError("LOG_MISSING", "x"), 503),
    ],
)
def test_an_error_has_a_status(error: PenstockError, status: int) -> None:
    assert status_of(error) == status


def failing() -> FastAPI:
    app = FastAPI()
    tell_problems(app)

    @app.get("/coded")
    def coded() -> None:
        raise TopicError("TOPIC_MISSING", 'there is no topic "a"', hint="Make it.")

    @app.get("/own")
    def own() -> None:
        raise Problem(418, "PATH_MISSING", "a teapot", "Use a kettle.")

    @app.get("/broken/{name}")
    def broken(name: str) -> None:
        raise RuntimeError(f"secret {name}")

    @app.get("/number/{number}")
    def number(number: int) -> int:
        return number

    app.add_middleware(Observed, RequestCounts())
    return app


def test_everything_that_goes_wrong_is_a_problem() -> None:
    client = TestClient(failing())
    coded = client.get("/coded")
    assert coded.headers["content-type"] == "application/problem+json"
    assert coded.json() == {
        "class": "TopicError",
        "type": "urn:penstock:error:TOPIC_MISSING",
        "title": "Not Found",
        "status": 404,
        "detail": 'there is no topic "a"',
        "code": "TOPIC_MISSING",
        "hint": "Make it.",
    }
    assert (client.get("/own").status_code, client.get("/own").json()["status"]) == (418, 418)
    unfit = client.get("/number/x")
    assert (unfit.status_code, unfit.json()["code"]) == (422, "REQUEST_UNFIT")
    assert "path.number" in unfit.json()["detail"]
    assert client.get("/nothing").json()["code"] == "NOT_FOUND"
    refused = client.post("/coded")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET")


def test_a_failure_nobody_expected_is_told_without_a_trace_and_found_in_the_log(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    with written_log(path):
        answer = TestClient(failing()).get("/broken/pw?key=hidden")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    number = answer.json()["instance"].rpartition(":")[2]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    failure = next(line for line in lines if line["level"] == "error")
    assert number in failure["event"]
    assert "RuntimeError" in failure["trace"]
    request = next(line for line in lines if line["event"] == "request")
    assert request.items() >= {"method": "GET", "path": "/broken/{name}", "status": 500}.items()
    assert "hidden" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert logging.getLogger("penstock.serve").handlers == []


def test_what_the_api_has_not_is_told_to_programs(tmp_path: Path) -> None:
    with asked(tmp_path) as server:
        missing = server.client.get("/api/v1/nothing")
        assert (missing.status_code, missing.json()["code"]) == (404, "PATH_MISSING")
        refused = server.client.put("/api/v1/tokens")
        assert (refused.status_code, refused.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
        assert "/api/v1/tokens" in server.client.get("/api/docs").text


def test_the_server_measures_itself_beside_the_home(tmp_path: Path) -> None:
    with asked(tmp_path) as server:
        server.platform.log.create_topic("clicks", partitions=1)
        server.client.get("/api/v1/tokens")
        server.client.delete("/api/v1/tokens/unheard")
        text = server.client.get("/metrics").text
        labels = 'method="DELETE",path="/api/v1/tokens/{name}",status="404"'
        assert f"penstock_http_requests_total{{{labels}}} 1" in text
        assert "unheard" not in text
        assert "clicks" in text
        assert "penstock_http_requests_under_way 1" in text


def test_it_is_not_ready_while_something_starts_and_stays_ready_then(tmp_path: Path) -> None:
    starting = ["host of jobs"]
    with asked(tmp_path) as server:
        server.platform.readiness.watch(lambda: starting)
        answer = server.client.get("/readyz")
        assert (answer.status_code, answer.json()["starting"]) == (503, ["host of jobs"])
        assert server.client.get("/healthz").status_code == 200
        starting.clear()
        assert server.client.get("/readyz").json() == {"ready": True, "starting": []}
        starting.append("job that starts again")
        assert server.client.get("/readyz").status_code == 200
