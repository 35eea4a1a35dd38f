"""The OpenAPI document of the API, complete, and a page that shows it without any script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

import penstock
from penstock.serve.access.needs import RoleNeeded
from penstock.serve.access.role import Role
from penstock.serve.problem import MEDIA_TYPE

_VERBS = ("get", "put", "post", "delete", "patch")
_PROBLEM = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code", "hint"],
    "properties": {
        "type": {"type": "string", "description": "A name of the kind of problem."},
        "title": {"type": "string", "description": "The phrase of the status."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is the matter."},
        "code": {"type": "string", "description": "Stable; docs/errors.md lists all."},
        "hint": {"type": "string", "description": "What to do about it."},
        "class": {"type": "string", "description": "The kind of error, as Python has it."},
        "instance": {"type": "string", "description": "Of a failure: its id in the log."},
    },
}
_ABOUT = """Topics, records, schemas, SQL, jobs, tables and alerts of a home.

Everything that goes wrong is `application/problem+json` with a stable `code` and a `hint`.
Lists come in pages: `limit`, `after`, and `next` of the answer. A write with an
`Idempotency-Key` is carried out once. Definitions have an `ETag`; send it as `If-Match`.
"""


def complete_document(app: FastAPI, routers: Iterable[tuple[str, APIRouter]]) -> None:
    """Have the document say also who may ask what, and what problems look like.

    Routers come with what their paths begin with.
    """
    roles = dict(_roles(routers))

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, roles)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # as FastAPI's manual says


def role_of(route: APIRoute) -> Role | None:
    """Give the role that a route needs; none: it answers everybody."""
    roles = [
        asked.role
        for dependant in route.dependant.dependencies
        if isinstance(asked := getattr(dependant.call, "__self__", None), RoleNeeded)
    ]
    return max(roles, default=None)


def _document(app: FastAPI, roles: Mapping[tuple[str, str], Role | None]) -> dict[str, Any]:
    told = get_openapi(
        title="Penstock", version=penstock.__version__, description=_ABOUT, routes=app.routes
    )
    parts = told.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = _PROBLEM
    parts["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `penstock serve token create`. A server for its own"
            " machine only needs none until the first is made.",
        }
    }
    for path, verbs in told.get("paths", {}).items():
        for verb, operation in verbs.items():
            if verb in _VERBS:
                _complete(operation, roles.get((path, verb.upper())), verb)
    return told


def _roles(
    routers: Iterable[tuple[str, APIRouter]],
) -> Iterator[tuple[tuple[str, str], Role | None]]:
    for prefix, router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in route.methods or ():
                    yield (f"{prefix}{route.path}", method), role_of(route)


def _complete(operation: dict[str, Any], role: Role | None, verb: str) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    responses = operation.setdefault("responses", {})
    responses["422"] = {"description": "The request does not fit.", "content": content}
    responses.setdefault("default", {"description": "What went wrong.", "content": content})
    if role is not None:
        operation["security"] = [{}, {"token": []}]
        operation["x-penstock-role"] = role.name.lower()
        said = operation.get("description", "").rstrip()
        operation["description"] = f"{said}\n\nFor the role {role.name.lower()} and above.".strip()
    if verb != "get":
        operation.setdefault("parameters", []).append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "The same key with the same request gives the same answer.",
                "schema": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 255,
                    "pattern": "^[ -~]+$",
                },
            }
        )


def document_page(told: dict[str, Any]) -> str:
    """Give a page that lists what can be asked."""
    rows = "".join(
        f"<tr><td><code>{verb.upper()}</code></td><td><code>{escape(path)}</code></td>"
        f"<td>{escape(operation.get('x-penstock-role', 'anybody'))}</td>"
        f"<td>{escape(operation.get('description', '').partition(chr(10))[0])}</td></tr>"
        for path, verbs in sorted(told.get("paths", {}).items())
        for verb, operation in verbs.items()
        if verb in _VERBS
    )
    return _PAGE.format(version=escape(penstock.__version__), rows=rows)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Penstock: API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif;
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ text-align: left; vertical-align: top;
  padding: .3rem .6rem; border-bottom: 1px solid #8884; }}
</style></head><body>
<h1>The API of Penstock {version}</h1>
<p>All of it, with types, is in the <a href="/api/v1/openapi.json">OpenAPI document</a>.</p>
<table><tr><th>verb</th><th>path</th><th>role</th><th>what it does</th></tr>{rows}</table>
</body></html>
"""
