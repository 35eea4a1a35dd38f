"""Every route says who may use it, and nobody else is let in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute, iter_route_contexts
from starlette.routing import Mount

from penstock.serve.access.guard import OPEN_PATHS
from penstock.serve.access.needs import RoleNeeded
from penstock.serve.access.role import Role
from tests.serve.server_kit import Asked, asked

ROLES = {"reader": Role.READER, "writer": Role.WRITER, "admin": Role.ADMIN}


def needed(app: FastAPI) -> Iterator[tuple[str, str, Role | None]]:
    """Every path with its method and the role that it needs."""
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, Mount):
            continue
        assert isinstance(route, APIRoute | APIWebSocketRoute), route
        roles = [
            asked_for.role
            for dependant in route.dependant.dependencies
            if isinstance(asked_for := getattr(dependant.call, "__self__", None), RoleNeeded)
        ]
        methods = route.methods if isinstance(route, APIRoute) else {"WEBSOCKET"}
        for method in methods or ():
            yield method, context.path or "", max(roles, default=None)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asked]:
    with asked(tmp_path) as found:
        yield found


def test_every_route_says_who_may_use_it(server: Asked) -> None:
    found = list(needed(server.app))
    assert len(found) > 10
    assert [row for row in found if row[2] is None and row[1] not in OPEN_PATHS] == []


def test_the_document_says_the_role_of_every_operation(server: Asked) -> None:
    told = server.app.openapi()["paths"]
    for method, path, role in needed(server.app):
        operation = told.get(path, {}).get(method.lower())
        if operation is not None and role is not None:
            assert operation["x-penstock-role"] == role.name.lower(), path
    operations = [one for verbs in told.values() for one in verbs.values()]
    assert all(one.get("description") for one in operations)


def test_nobody_uses_a_route_with_a_lesser_role(server: Asked) -> None:
    headers = {role: server.bearer(role) for role in Role}
    for method, path, role in needed(server.app):
        if role is None or method == "WEBSOCKET":
            continue
        place = re.sub(r"\{[^}]*\}", "x", path)
        unknown = server.client.request(method, place)
        assert unknown.status_code == 401, (method, path)
        for lesser in [one for one in Role if one < role]:
            refused = server.client.request(method, place, headers=headers[lesser])
            assert refused.status_code == 403, (method, path, lesser)
            assert method == "HEAD" or refused.json()["code"] == "ROLE_NEEDED"


def test_a_name_leads_to_no_other_place(server: Asked) -> None:
    home = server.platform.home
    before = {path for path in home.rglob("*") if "answers.db" not in path.name}
    for method, path, role in needed(server.app):
        if role is None or "{" not in path or method in {"WEBSOCKET", "HEAD"} or "live" in path:
            continue
        for name in ("%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "a%22%3b%20drop", "~"):
            place = re.sub(r"\{[^}]*\}", name, path)
            answer = server.client.request(method, place, json={})
            assert answer.status_code in {400, 404, 405, 409, 422}, (method, place, answer.text)
    after = {path for path in home.rglob("*") if "answers.db" not in path.name}
    assert after - before <= {home / "server", home / "jobs", home / "definitions"}
