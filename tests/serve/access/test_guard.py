from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.sql.server_token import made_token
from tests.serve.server_kit import Asked, asked


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asked]:
    with asked(tmp_path) as found:
        yield found


def test_on_this_machine_everybody_is_admin_until_there_is_a_token(server: Asked) -> None:
    assert server.client.get("/api/v1/tokens").json() == []
    header = server.bearer(Role.ADMIN)
    refused = server.client.get("/api/v1/tokens")
    assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_NEEDED")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert server.client.get("/api/v1/tokens", headers=header).status_code == 200


def test_beyond_this_machine_nobody_is_known_without_a_token(tmp_path: Path) -> None:
    with asked(tmp_path, loopback=False) as server:
        assert server.client.get("/metrics").status_code == 401
        known = {"Authorization": f"Bearer {made_token(tmp_path)}", "Host": "far.example"}
        assert server.client.get("/metrics", headers=known).status_code == 200
        assert server.client.get("/healthz").json() == {"status": "ok"}


def test_a_wrong_token_is_refused_even_where_none_is_needed(server: Asked) -> None:
    refused = server.client.get("/metrics", headers={"Authorization": "Bearer nobody"})
    assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_WRONG")


def test_only_the_names_of_this_machine_are_answered(server: Asked) -> None:
    for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""):
        refused = server.client.get("/healthz", headers={"Host": host})
        assert (refused.status_code, refused.json()["code"]) == (421, "HOST_FOREIGN")
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:8080"):
        assert server.client.get("/healthz", headers={"Host": host}).status_code == 200


def test_a_page_of_somebody_else_changes_nothing(server: Asked) -> None:
    body = {"name": "x", "role": "admin"}
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.a", ""):
        refused = server.client.post("/api/v1/tokens", json=body, headers={"Origin": origin})
        assert (refused.status_code, refused.json()["code"]) == (403, "ORIGIN_FOREIGN")
    assert server.tokens.tokens() == ()


def test_a_page_of_this_server_may_ask(server: Asked) -> None:
    body = {"name": "x", "role": "admin"}
    own = {"Origin": "http://127.0.0.1"}
    assert server.client.post("/api/v1/tokens", json=body, headers=own).status_code == 201


def test_other_origins_are_closed_but_for_those_that_are_allowed(tmp_path: Path) -> None:
    allowed, other = "https://pages.example", "https://other.example"
    with asked(tmp_path, origins=frozenset({allowed})) as server:
        ask = {"Access-Control-Request-Method": "POST"}
        open_ = server.client.options("/api/v1/tokens", headers={"Origin": allowed, **ask})
        assert open_.headers["access-control-allow-origin"] == allowed
        closed = server.client.options("/api/v1/tokens", headers={"Origin": other, **ask})
        assert "access-control-allow-origin" not in closed.headers
        body = {"name": "x", "role": "admin"}
        made = server.client.post("/api/v1/tokens", json=body, headers={"Origin": allowed})
        assert made.status_code == 201


def test_without_allowed_origins_no_answer_is_for_others(server: Asked) -> None:
    answer = server.client.get("/metrics", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_browser_logs_in_with_a_token_and_out_again(server: Asked) -> None:
    word = server.tokens.create("ada", Role.READER)
    browser = TestClient(server.app, "http://127.0.0.1", follow_redirects=False)
    sent = browser.get("/topics", headers={"Accept": "text/html"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/login?next=/topics")
    assert "password" in browser.get("/login?next=/topics").text
    wrong = browser.post("/login?next=/topics", data={"token": "nobody"})
    assert wrong.status_code == 401
    assert "nobody" not in wrong.text
    right = browser.post("/login?next=/topics", data={"token": word})
    assert (right.status_code, right.headers["location"]) == (303, "/topics")
    cookie = right.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict"))
    assert word not in cookie
    assert browser.get("/api/docs").status_code == 200
    assert browser.get("/api/v1/tokens").status_code == 403
    browser.get("/logout")
    assert browser.get("/api/docs").status_code == 401


def test_logging_in_leads_nowhere_else(server: Asked) -> None:
    word = server.tokens.create("ada", Role.READER)
    for to in ("//evil.example", "https://evil.example", "/\\evil", "x", '/"><b>'):
        answer = server.client.post(
            "/login", params={"next": to}, data={"token": word}, follow_redirects=False
        )
        place = answer.headers["location"]
        assert place.startswith("/")
        assert not place.startswith("//")
        assert "<b>" not in server.client.get("/login", params={"next": to}).text


def test_the_registry_lets_readers_look_and_writers_change(server: Asked) -> None:
    reader, writer = server.bearer(Role.READER), server.bearer(Role.WRITER)
    body = {"schema": '{"type": "string"}'}
    client = server.client
    new = "/registry/subjects/a/versions"
    assert client.get("/registry/subjects").status_code == 401
    refused = client.post(new, json=body, headers=reader)
    assert (refused.status_code, refused.json()["code"]) == (403, "ROLE_NEEDED")
    assert client.post(new, json=body, headers=writer).status_code == 200
    assert client.get("/registry/subjects", headers=reader).json() == ["a"]
    assert client.post("/registry/subjects/a", json=body, headers=reader).status_code == 200
    assert client.delete("/registry/subjects/a", headers=reader).status_code == 403


def test_a_web_socket_is_for_pages_of_this_server_and_for_who_has_a_token(server: Asked) -> None:
    @server.app.websocket("/tried", dependencies=[needs(Role.WRITER)])
    async def tried(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    def status(**headers: str) -> int:
        named = {"host": "127.0.0.1", **headers}
        try:
            with server.client.websocket_connect("/tried", headers=named) as socket:
                assert socket.receive_text() == "hello"
        except WebSocketDenialResponse as refused:
            return refused.status_code
        return 101

    assert status() == 101
    assert status(origin="https://evil.example") == 403
    assert status(host="evil.example") == 421
    reader, writer = server.bearer(Role.READER), server.bearer(Role.WRITER)
    assert [status(), status(**reader), status(**writer)] == [401, 403, 101]
