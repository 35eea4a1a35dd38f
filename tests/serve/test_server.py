from __future__ import annotations

import threading
import time

import httpx
import pytest
from fastapi import FastAPI

from penstock.errors import SetupError
from penstock.serve.server import HttpServer


def an_app() -> FastAPI:
    app = FastAPI(openapi_url=None)
    app.state.slow = threading.Event()

    @app.get("/")
    def hello() -> str:
        return "hello"

    @app.get("/slow")
    def slow() -> str:
        app.state.slow.set()
        time.sleep(0.3)
        return "done"

    return app


def test_it_serves_on_a_free_port_of_this_machine_only_and_can_be_closed_twice() -> None:
    server = HttpServer(an_app())
    assert server.url.startswith("http://127.0.0.1:")
    assert httpx.get(server.url).json() == "hello"
    server.close()
    server.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url)


def test_what_is_under_way_is_answered_before_the_end() -> None:
    app = an_app()
    found: list[str] = []
    with HttpServer(app) as server:
        asking = threading.Thread(
            target=lambda: found.append(httpx.get(f"{server.url}/slow").json())
        )
        asking.start()
        assert app.state.slow.wait(10)
    asking.join()
    assert found == ["done"]


def test_a_port_that_is_taken_is_told() -> None:
    with HttpServer(an_app()) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(SetupError, match="PORT_TAKEN"):
            HttpServer(an_app(), port=port)


def test_a_server_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda *_: None)
    with pytest.raises(SetupError, match="SERVER_START"):
        HttpServer(an_app())
