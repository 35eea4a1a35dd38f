"""The application of a server: its API, the registry and the pages, on one port."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match

from penstock.serve.access.guard import Guard
from penstock.serve.access.needs import needs
from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.api import (
    alerts,
    dead_letters,
    groups,
    health,
    jobs,
    lineage,
    live,
    log,
    metrics,
    query,
    records,
    schemas,
    sql,
    tokens,
    topics,
)
from penstock.serve.api_document import complete_document, document_page
from penstock.serve.idempotency import HEADER, Idempotency
from penstock.serve.limits import Limited, Limits
from penstock.serve.login import login_routes
from penstock.serve.observed import Observed
from penstock.serve.platform import Platform
from penstock.serve.problem import Problem, tell_problems
from penstock.serve.registry.api import registry_app
from penstock.serve.registry_guard import RegistryGuard
from penstock.serve.secure_headers import SecureHeaders
from penstock.serve.sql_api import shell_routes

API = "/api/v1"
_MISSING, _NOT_ALLOWED = 404, 405
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
_MODULES = (
    topics,
    records,
    groups,
    jobs,
    alerts,
    lineage,
    schemas,
    sql,
    dead_letters,
    query,
    live,
    log,
    tokens,
)


def application(
    platform: Platform, policy: Policy | None = None, limits: Limits | None = None
) -> FastAPI:
    """Give what answers for a platform; pages are added by `add_pages`.

    Without a policy it is for this machine only.
    """
    policy = policy or Policy(TokenFile(platform.home))
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    tell_problems(app)
    routers = [
        *((API, module.routes(platform)) for module in _MODULES),
        ("", health.routes(platform)),
        ("", metrics.routes(platform)),
    ]
    for prefix, router in routers:
        app.include_router(router, prefix=prefix)
    app.include_router(login_routes(policy))
    app.include_router(shell_routes(platform.sql, platform.turn))
    complete_document(app, routers)
    _add_document(app)
    _add_missing(app)
    app.mount("/registry", RegistryGuard(registry_app(platform.registry)))
    _add_guards(app, platform, policy, limits or Limits())
    return app


def _add_guards(app: FastAPI, platform: Platform, policy: Policy, limits: Limits) -> None:
    """Put before the application what looks at every request; the last stands outermost."""
    app.add_middleware(Idempotency, platform.answers, f"{API}/")
    app.add_middleware(Limited, limits)
    app.add_middleware(Guard, policy)
    app.add_middleware(SecureHeaders)
    if policy.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(policy.origins),
            allow_methods=_METHODS,
            allow_headers=["Authorization", "Content-Type", "If-Match", "If-None-Match", HEADER],
            expose_headers=["ETag", "X-Request-Id"],
        )
    app.add_middleware(Observed, platform.requests)


def _add_document(app: FastAPI) -> None:
    @app.get(f"{API}/openapi.json", include_in_schema=False, dependencies=[needs(Role.READER)])
    def document() -> dict[str, object]:
        """Give the OpenAPI document."""
        return app.openapi()

    @app.get("/api/docs", include_in_schema=False, dependencies=[needs(Role.READER)])
    def page() -> HTMLResponse:
        """Show what can be asked."""
        return HTMLResponse(document_page(app.openapi()))


def _add_missing(app: FastAPI) -> None:
    """Tell programs in their own way of what is not there: pages answer for all other paths."""

    @app.api_route(
        "/api/{rest:path}",
        methods=_METHODS,
        include_in_schema=False,
        dependencies=[needs(Role.READER)],
    )
    def missing(request: Request, rest: str) -> None:
        """Refuse."""
        others = [route for route in app.routes if getattr(route, "endpoint", None) is not missing]
        if any(route.matches(request.scope)[0] is Match.PARTIAL for route in others):
            raise Problem(
                _NOT_ALLOWED,
                "METHOD_NOT_ALLOWED",
                f'"/api/{rest}" does not answer {request.method}',
                hint="GET /api/docs lists what can be asked.",
            )
        raise Problem(
            _MISSING,
            "PATH_MISSING",
            f'there is no "/api/{rest}"',
            hint="GET /api/docs lists what can be asked.",
        )
