from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from starlette.testclient import TestClient

from penstock.serve.limits import Limited, Limits
from penstock.serve.server import HttpServer


def an_app(limits: Limits, entered: threading.Event, go_on: threading.Event) -> FastAPI:
    app = FastAPI()

    @app.post("/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    @app.get("/slow")
    async def slow() -> str:
        await asyncio.sleep(5)
        return "late"

    @app.get("/held")
    def held() -> str:
        entered.set()
        go_on.wait(10)
        return "done"

    @app.get("/live")
    async def live() -> StreamingResponse:
        async def lines() -> AsyncIterator[bytes]:
            for _ in range(3):
                await asyncio.sleep(0.1)
                yield b"x"

        return StreamingResponse(lines())

    app.add_middleware(Limited, limits)
    return app


def client(limits: Limits) -> TestClient:
    return TestClient(an_app(limits, threading.Event(), threading.Event()))


def test_a_request_that_is_too_large_is_refused_said_or_not() -> None:
    asked = client(Limits(body_bytes=1000))
    assert asked.post("/size", content=b"x" * 1000).json() == 1000
    refused = asked.post("/size", content=b"x" * 1001)
    assert (refused.status_code, refused.json()["code"]) == (413, "REQUEST_LARGE")

    def parts() -> Iterator[bytes]:
        for _ in range(11):
            yield b"x" * 100

    refused = asked.post("/size", content=parts())
    assert (refused.status_code, refused.json()["code"]) == (413, "REQUEST_LARGE")


def test_an_answer_that_does_not_begin_in_time_is_given_up() -> None:
    refused = client(Limits(seconds=0.05)).get("/slow")
    assert (refused.status_code, refused.json()["code"]) == (504, "REQUEST_SLOW")


def test_an_answer_that_has_begun_may_last() -> None:
    assert client(Limits(seconds=0.15)).get("/live").text == "xxx"


def test_too_many_requests_at_a_time_are_refused() -> None:
    entered, go_on = threading.Event(), threading.Event()
    with HttpServer(an_app(Limits(at_a_time=1), entered, go_on)) as server:
        first = threading.Thread(target=lambda: httpx.get(f"{server.url}/held"))
        first.start()
        assert entered.wait(10)
        refused = httpx.post(f"{server.url}/size", content=b"x")
        assert (refused.status_code, refused.json()["code"]) == (503, "REQUESTS_MANY")
        go_on.set()
        first.join()
        assert httpx.post(f"{server.url}/size", content=b"x").json() == 1
