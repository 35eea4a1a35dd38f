"""Queries over HTTP: any SELECT over what the log holds, and rows of tables by their key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias

import orjson
from fastapi import APIRouter, Path, Query, Request, Response

from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.entity_tag import not_modified
from penstock.serve.paging import PageAsked, page_of
from penstock.serve.platform import Platform
from penstock.serve.problem import Problem
from penstock.serve.pull.answer import PullAnswer
from penstock.serve.pull.as_of import Said
from penstock.serve.pull.form import ARROW, CSV, arrow_bytes, csv_text
from penstock.serve.pull.source import Source
from penstock.serve.pull.tables import MOST_ROWS, Tables

_JSON = "application/json"
_LONGEST = 100_000
_LONGEST_HEADER = 8_000
_MOST_ASKED = 1_000_000
_LAST_OFFSET = 2**63 - 1
_LAST_TIME = 253_402_300_799_999
Limit: TypeAlias = Annotated[
    int, Query(ge=0, le=_MOST_ASKED, description="How many rows at most; `truncated` tells.")
]
AsOfText: TypeAlias = Annotated[
    str | None, Query(max_length=64, description="An earlier time: ISO 8601, or milliseconds.")
]
Name: TypeAlias = Annotated[str, Path(max_length=249, description="A table's name.")]


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """A column by name and type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableShown:
    """What FROM can name; a table has a key."""

    name: str
    kind: str
    topic: str
    columns: list[ColumnShown]
    key: list[str]
    windowed: bool


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some of what FROM can name, and where the others begin."""

    items: list[TableShown]
    next: str | None


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, and the offsets that they reflect: the next ones of each partition."""

    columns: list[ColumnShown]
    rows: list[list[Any]]
    offsets: dict[str, int]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A SELECT, and as of when: a time, or the offsets of an earlier answer."""

    sql: Annotated[str, Query(max_length=_LONGEST)]
    limit: Annotated[int, Query(ge=0, le=_MOST_ASKED)] = MOST_ROWS
    as_of: (
        Annotated[str, Query(max_length=64)]
        | Annotated[int, Query(ge=0, le=_LAST_TIME)]
        | dict[str, Annotated[int, Query(ge=0, le=_LAST_OFFSET)]]
        | None
    ) = field(default=None)


_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": Rows, "content": {CSV: {}, ARROW: {}}, "description": "The rows."},
    304: {"description": "The rows are those of the tag in If-None-Match."},
}


def routes(platform: Platform) -> APIRouter:
    """Give the routes of queries."""
    router = APIRouter(tags=["queries"], dependencies=[needs(Role.READER)])
    tables = platform.tables

    @router.post("/query", responses=_ANSWERS, response_class=Response)
    def query(asked: Asked, request: Request) -> Response:
        """Answer one SELECT of DuckDB: JSON, CSV or an Arrow stream, as Accept says."""
        return _answered(tables, request, asked.sql, asked.limit, asked.as_of)

    @router.get("/query", responses=_ANSWERS, response_class=Response)
    def query_by_address(
        request: Request,
        sql: Annotated[str, Query(max_length=_LONGEST)],
        limit: Limit = MOST_ROWS,
        as_of: AsOfText = None,
    ) -> Response:
        """Answer one SELECT that the address says, so that it can be kept, and asked again."""
        return _answered(tables, request, sql, limit, as_of)

    @router.get("/tables")
    def list_tables(page: PageAsked) -> TablePage:
        """List all that FROM can name; what cannot be read is left out."""
        names = page_of(tables.names(), str, page)
        found = tables.sources(names["items"])
        return TablePage([_shown(source) for source in found], names["next"])

    @router.get("/tables/{name}/rows", responses=_ANSWERS, response_class=Response)
    def table_rows(
        name: Name,
        request: Request,
        key: Annotated[
            str | None,
            Query(max_length=10_000, description="The key; several columns as a JSON object."),
        ] = None,
        limit: Limit = MOST_ROWS,
    ) -> Response:
        """Give the row of a key, or the first rows of all."""
        source = tables.source(name)
        if source is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                "TABLE_MISSING",
                f'there is no table, stream or topic "{name}"',
                "GET /api/v1/tables lists those there are.",
            )
        if key is None:
            everything = f"SELECT * FROM {_quoted(name, source)}"  # noqa: S608  # quoted
            return _answered(tables, request, everything, limit, None)
        wanted = _key(key) if len(source.keys) > 1 else key
        return _response(request, tables.lookup(name, wanted, limit=limit))

    return router


def _quoted(name: str, source: Source) -> str:
    part = source.name.replace('"', '""')
    return f'topic."{part}"' if source.kind == "topic" and name == source.topic else f'"{part}"'


def _key(text: str) -> Any:  # noqa: ANN401  # whatever it says
    try:
        return json.loads(text)
    except ValueError:
        return text


def _answered(tables: Tables, request: Request, sql: str, limit: int, as_of: Said) -> Response:
    if "if-none-match" in request.headers:
        tag = tables.tag(sql, limit=limit, as_of=as_of)
        same = None if tag is None else not_modified(request, tag)
        if same is not None:
            return same
    return _response(request, tables.query(sql, limit=limit, as_of=as_of))


def _response(request: Request, answer: PullAnswer) -> Response:
    same = None if answer.tag is None else not_modified(request, answer.tag)
    if same is not None:
        return same
    document = answer.document() if _wanted(request) == _JSON else {}
    headers = {"Vary": "Accept", "Cache-Control": "no-cache"}
    if answer.tag is not None:
        headers["ETag"] = answer.tag
    if document:
        return Response(orjson.dumps(document), headers=headers, media_type=_JSON)
    offsets = {str(at): offset for at, offset in answer.offsets.items()}
    told = json.dumps(offsets, separators=(",", ":"))
    if len(told) <= _LONGEST_HEADER:
        headers["Penstock-Offsets"] = told
    headers["Penstock-Truncated"] = str(answer.truncated).lower()
    if _wanted(request) == CSV:
        return Response(csv_text(answer), headers=headers, media_type=f"{CSV}; charset=utf-8")
    return Response(arrow_bytes(answer), headers=headers, media_type=ARROW)


def _wanted(request: Request) -> str:
    """Give the first form in Accept that there is; JSON where none is."""
    for part in request.headers.get("accept", "").split(","):
        name = part.partition(";")[0].strip().lower()
        if name in (_JSON, CSV, ARROW):
            return name
    return _JSON


def _shown(source: Source) -> TableShown:
    columns = [ColumnShown(item.name, str(item.type)) for item in source.columns]
    keys = ["ROWKEY" if name == "_key" else name for name in source.keys]
    return TableShown(source.name, source.kind, source.topic, columns, keys, bool(source.bounds))
