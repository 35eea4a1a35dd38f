"""What goes wrong is told as `application/problem+json` (RFC 9457), with our code and hint."""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as RoutingException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketState

from penstock.errors import PenstockError
from penstock.serve.problem_status import status_of

MEDIA_TYPE = "application/problem+json"
_UNFIT = HTTPStatus.UNPROCESSABLE_ENTITY
_FAILED = HTTPStatus.INTERNAL_SERVER_ERROR
_REFUSED = 1008
"""The code with which a WebSocket is closed where a rule forbids it."""
_log = logging.getLogger("penstock.serve")


class Problem(PenstockError):  # noqa: N818  # the word of the standard
    """A refusal with a status of HTTP of its own."""

    def __init__(self, status: int, code: str, fact: str, hint: str = "") -> None:
        super().__init__(code, fact, hint=hint)
        self.status = status


def problem_document(status: int, code: str, fact: str, hint: str = "") -> dict[str, Any]:
    """Give what a problem says."""
    return {
        "type": f"urn:penstock:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": fact,
        "code": code,
        "hint": hint,
    }


def problem_response(error: PenstockError) -> Response:
    """Answer with an error of ours."""
    status = error.status if isinstance(error, Problem) else status_of(error)
    # Our own clients raise it again as what it was.
    more = {} if isinstance(error, Problem) else {"class": type(error).__name__}
    return _response(status, error.code, error.fact, error.hint, more=more)


def _response(
    status: int, code: str, fact: str, hint: str = "", *, more: dict[str, Any] | None = None
) -> Response:
    """Answer with a problem; `more` are members of its own."""
    document = {**problem_document(status, code, fact, hint), **(more or {})}
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return Response(orjson.dumps(document), status, headers, MEDIA_TYPE)


def tell_problems(app: FastAPI) -> None:
    """Have everything that goes wrong told as a problem."""
    app.exception_handler(PenstockError)(_refused)
    app.exception_handler(RequestValidationError)(_unfit)
    app.exception_handler(RoutingException)(_routing)
    app.exception_handler(HTTPException)(_routing)
    app.exception_handler(Exception)(_failed)


async def _refused(connection: HTTPConnection, error: PenstockError) -> Response:
    return await _told(connection, problem_response(error))


async def _unfit(_: Request, error: RequestValidationError) -> Response:
    return _response(
        _UNFIT,
        "REQUEST_UNFIT",
        "; ".join(_said(one) for one in error.errors()),
        "The OpenAPI document at /api/v1/openapi.json says what fits.",
    )


def _said(one: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in one["loc"])
    return f"{place}: {one['msg'][:1].lower()}{one['msg'][1:]}"


async def _routing(connection: HTTPConnection, error: RoutingException) -> Response:
    phrase = HTTPStatus(error.status_code).phrase.lower()
    fact = phrase if error.detail.lower() == phrase else error.detail
    answer = _response(
        error.status_code, HTTPStatus(error.status_code).name, f"{fact}: {connection.url.path}"
    )
    answer.headers.update(error.headers or {})
    return await _told(connection, answer)


async def _failed(connection: HTTPConnection, error: Exception) -> Response:
    return await _told(connection, failure_response(error))


def failure_response(error: Exception) -> Response:
    """Answer with a failure nobody expected: its trace is in the log, under the id that is told."""
    number = secrets.token_hex(8)
    _log.error("failure %s", number, exc_info=error)
    return _response(
        _FAILED,
        "UNEXPECTED",
        "the server failed to answer this",
        f"This is a defect of Penstock; the log of the server has it as failure {number}.",
        more={"instance": f"urn:penstock:failure:{number}"},
    )


async def _told(connection: HTTPConnection, answer: Response) -> Response:
    """Give the answer; a WebSocket is closed, where possible with it."""
    if not isinstance(connection, WebSocket):
        return answer
    if connection.client_state is WebSocketState.CONNECTING:
        await connection.send_denial_response(answer)
    elif connection.application_state is WebSocketState.CONNECTED:
        await connection.close(_REFUSED, orjson.loads(answer.body)["code"])
    return PlainTextResponse("")
