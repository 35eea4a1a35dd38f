"""Entity tags: a definition that somebody else has changed meanwhile is not overwritten."""

from __future__ import annotations

import hashlib
from http import HTTPStatus

import orjson
from fastapi import Request, Response

from penstock.errors import RequestError

_ANY = "*"
_WEAK = "W/"


def tag_of(document: object) -> str:
    """Give the tag of a JSON document: another for each other content."""
    data = orjson.dumps(document, option=orjson.OPT_SORT_KEYS, default=str)
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def require_match(request: Request, tag: str) -> None:
    """Refuse (412) a change by somebody who has seen something else: `If-Match`."""
    wanted = request.headers.get("if-match")
    if wanted is not None and not _names(wanted, tag):
        raise RequestError(
            "TAG_DIFFERS",
            "this has been changed since you have seen it",
            hint="Look at it again, and send the ETag that it has now as If-Match.",
        )


def not_modified(request: Request, tag: str) -> Response | None:
    """Give the answer to somebody who has seen this already (304): `If-None-Match`; or none."""
    seen = request.headers.get("if-none-match")
    if seen is None or not _names(seen.replace(_WEAK, ""), tag):
        return None
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})


def require_absent(request: Request, *, exists: bool) -> None:
    """Refuse (412) to make what is there already: `If-None-Match: *`."""
    if exists and request.headers.get("if-none-match", "").strip() == _ANY:
        raise RequestError(
            "TAG_DIFFERS",
            "this is there already",
            hint="Leave out If-None-Match to change it.",
        )


def _names(header: str, tag: str) -> bool:
    return header.strip() == _ANY or tag in [part.strip() for part in header.split(",")]
