"""The registry over HTTP: the REST API of Confluent's Schema Registry, on any registry."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.schema.registry.port import SchemaRegistry
from penstock.serve.registry.associations import association_routes
from penstock.serve.registry.request import CONTEXT_SCOPE
from penstock.serve.registry.response import RegistryResponse, tell_errors
from penstock.serve.registry.schemas import schema_routes, server_routes
from penstock.serve.registry.settings import mode_routes, settings_routes
from penstock.serve.registry.subjects import compatibility_routes, subject_routes

_CONTEXTS = "/contexts/"


def registry_app(registry: SchemaRegistry) -> ASGIApp:
    """Give the application that answers for a registry."""
    app = FastAPI(openapi_url=None, default_response_class=RegistryResponse)
    tell_errors(app)
    for routes in (
        subject_routes(registry),
        compatibility_routes(registry),
        schema_routes(registry),
        settings_routes(registry),
        mode_routes(registry),
        association_routes(registry),
        server_routes(registry),
    ):
        app.include_router(routes)
    return _AsWritten(app)


class _AsWritten:
    """Routes paths as they were written: a subject may have slashes, if they are encoded.

    An address such as `/contexts/.mine` in front of a path puts its subjects into that context.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = (scope.get("raw_path") or scope["path"].encode()).decode("ascii", "replace")
            # Where it is mounted below another application, paths begin with where.
            path = path.removeprefix(scope.get("root_path", ""))
            scope = {**scope, "path": path.rstrip("/") or "/", "root_path": ""}
            context, slash, rest = path.removeprefix(_CONTEXTS).partition("/")
            if path.startswith(_CONTEXTS) and slash and rest:
                scope |= {"path": f"/{rest}".rstrip("/"), CONTEXT_SCOPE: context.strip(":")}
        await self._app(scope, receive, send)
