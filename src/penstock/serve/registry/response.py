"""Answers of the registry's REST API: content types, and errors in its own form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RoutingException
from typing_extensions import override

from penstock.errors import PenstockError
from penstock.schema.registry.refusals import REST_CODES, RestCode

CONTENT_TYPES = (
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
)
_READABLE = frozenset({*CONTENT_TYPES, "application/octet-stream", ""})
_STORE_FAILED = RestCode(500, 50001)
_NOT_ACCEPTABLE, _UNREADABLE = 406, 415


class RegistryResponse(Response):
    """JSON, or the bare text of a schema, under the registry's own content type."""

    media_type = CONTENT_TYPES[0]

    @override
    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else orjson.dumps(content)


def bare_text(text: str) -> RegistryResponse:
    """Answer with a schema's text itself."""
    return RegistryResponse(text.encode())


def tell_errors(app: FastAPI) -> None:
    """Have everything that goes wrong told as `{"error_code": ..., "message": ...}`."""
    app.exception_handler(PenstockError)(_refused)
    app.exception_handler(RoutingException)(_routing)
    app.exception_handler(HTTPException)(_routing)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(Exception)(_failed)
    app.middleware("http")(_content_types)


def problem(status: int, number: int, message: str) -> RegistryResponse:
    """Answer with an error."""
    return RegistryResponse({"error_code": number, "message": message}, status)


def rest_code(error: PenstockError) -> RestCode:
    """Give the number of an error; whatever the registry does not name is a failed store."""
    return REST_CODES.get(error.code, _STORE_FAILED)


async def _content_types(
    request: Request, answer: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Refuse what cannot be read, and answer in the type that is asked for."""
    given = _media_type(request.headers.get("content-type", ""))
    if given not in _READABLE:
        return problem(_UNREADABLE, _UNREADABLE, "HTTP 415 Unsupported Media Type")
    accepted = _accepted(request.headers.get("accept", ""))
    if accepted is None:
        return problem(_NOT_ACCEPTABLE, _NOT_ACCEPTABLE, "HTTP 406 Not Acceptable")
    response = await answer(request)
    response.headers["content-type"] = accepted
    return response


def _accepted(header: str) -> str | None:
    wanted = [_media_type(part) for part in header.split(",") if part.strip()]
    if not wanted:
        return CONTENT_TYPES[0]
    for media_type in CONTENT_TYPES:
        if media_type in wanted:
            return media_type
    broad = {"*/*", "application/*"}
    return CONTENT_TYPES[0] if broad & set(wanted) else None


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, PenstockError):
        return await _failed(request, error)
    told = rest_code(error)
    return problem(told.status, told.number, f"{error.fact}. {error.hint}".strip())


async def _routing(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, RoutingException) else 500
    detail = error.detail if isinstance(error, RoutingException) else ""
    if status in {404, 405}:
        detail = {404: "HTTP 404 Not Found", 405: "HTTP 405 Method Not Allowed"}[status]
    return problem(status, status, detail)


async def _malformed(_: Request, error: Exception) -> Response:
    return problem(422, 422, f"the request is not as it should be: {error}")


async def _failed(_: Request, error: Exception) -> Response:
    told = _STORE_FAILED
    return problem(told.status, told.number, f"the registry failed: {type(error).__name__}")
