"""The one SELECT that is asked, as DuckDB's own parser reads it, and what it may not do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span

TABLE_FUNCTIONS = frozenset(
    {"generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest"}
)
"""The functions that may stand in FROM: they make rows of what they are given, and of nothing."""
_VOLATILE = frozenset(
    {
        "current_date", "current_time", "current_timestamp", "gen_random_uuid", "get_current_time",
        "get_current_timestamp", "current_localtime", "current_localtimestamp", "localtime",
        "localtimestamp", "now", "nextval", "random", "setseed", "today", "transaction_timestamp",
        "uuid", "uuidv4", "uuidv7",
    }
)  # fmt: skip
_CHANGING = ("INSERT_QUERY_NODE", "UPDATE_QUERY_NODE", "DELETE_QUERY_NODE", "MERGE_QUERY_NODE")
_SETTINGS = frozenset({"current_setting", "getenv", "getvariable"})
_WIDEST = 2


@dataclass(frozen=True, slots=True)
class Named:
    """A relation as FROM names it: its parts, and where they stand."""

    path: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """A SELECT that may be run."""

    text: str
    names: tuple[Named, ...]
    inner: frozenset[str]
    """Names, in small letters, that WITH gives to queries: they need not be those of tables."""
    volatile: bool
    """Whether the same rows may give another answer: it asks for the time, or for chance."""

    @property
    def source(self) -> SourceText:
        """The text, to show a place of it."""
        return SourceText(self.text)


def read_statement(text: str, tree: str) -> Statement:
    """Read what `json_serialize_sql` made of a text; all but one SELECT is refused."""
    told: dict[str, Any] = json.loads(tree)
    if told["error"]:
        raise _refused(text, told)
    statements = told["statements"]
    if len(statements) != 1:
        raise SqlError(
            "QUERY_STATEMENT",
            f"{len(statements)} statements were given, and not one",
            hint="Ask one SELECT at a time.",
        )
    nodes = list(_nodes(statements[0]))
    _check(text, nodes)
    hidden = {
        str(entry["key"]).lower()
        for node in nodes
        for entry in node.get("cte_map", {}).get("map", ())
    }
    names = tuple(
        Named(tuple(node["qualified_name"]["path"]), _span(text, node))
        for node in nodes
        if node.get("type") == "BASE_TABLE"
    )
    return Statement(text, names, frozenset(hidden), any(map(_is_volatile, nodes)))


def _nodes(value: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401  # any part of a JSON document
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _nodes(item)


def _check(text: str, nodes: list[dict[str, Any]]) -> None:
    for node in nodes:
        kind = node.get("type")
        if kind in _CHANGING:
            raise _forbidden(text, node, "a query changes nothing, and this would")
        if kind == "SHOW_REF" and node.get("show_type") not in ("DESCRIBE", "SUMMARY"):
            raise _forbidden(text, node, "SHOW lists what DuckDB has, which is nothing")
        if "at_clause" in node:
            raise _forbidden(text, node, "AT is not how an earlier time is asked for")
        if kind == "TABLE_FUNCTION":
            _check_function(text, node)
        if node.get("function_name") in _SETTINGS:
            raise _forbidden(text, node, f'function "{node["function_name"]}" may not be asked')
        path = node.get("qualified_name", {}).get("path", ()) if kind == "BASE_TABLE" else ()
        if len(path) > _WIDEST:
            raise _forbidden(text, node, f'"{".".join(path)}" has {len(path)} parts')


def _check_function(text: str, node: dict[str, Any]) -> None:
    name = str(node["function"]["function_name"])
    if name.lower() in TABLE_FUNCTIONS:
        return
    fact = f'table function "{name}" may not be asked'
    raise SqlError(
        "QUERY_FORBIDDEN",
        SourceText(text).shown(fact, _span(text, node)),
        hint=did_you_mean(name, TABLE_FUNCTIONS)
        or f"FROM takes tables, streams, topics, and: {', '.join(sorted(TABLE_FUNCTIONS))}.",
    )


def _forbidden(text: str, node: dict[str, Any], fact: str) -> SqlError:
    return SqlError(
        "QUERY_FORBIDDEN",
        SourceText(text).shown(fact, _span(text, node)),
        hint="Ask a SELECT over tables, streams and topics, a name with dots between double quotes;"
        " `as_of` asks for an earlier time.",
    )


def _is_volatile(node: dict[str, Any]) -> bool:
    if str(node.get("function_name", "")).lower() in _VOLATILE:
        return True
    # Some may be written without parentheses, and look like columns.
    names = node.get("column_names", ())
    return len(names) == 1 and str(names[0]).lower() in _VOLATILE


def _refused(text: str, told: dict[str, Any]) -> SqlError:
    if told.get("error_type") != "parser":
        return SqlError(
            "QUERY_STATEMENT",
            "this is no SELECT",
            hint="Ask one SELECT; `penstock sql` takes statements that define and change.",
        )
    start = _characters(text, int(told.get("position", 0)))
    rest = text[start:].split()
    span = Span(start, start + (len(rest[0]) if rest else 1))
    return SqlError(
        "QUERY_SYNTAX",
        SourceText(text).shown(told["error_message"], span),
        hint="Queries are written as DuckDB's SELECT is.",
    )


def _span(text: str, node: dict[str, Any]) -> Span:
    # DuckDB counts bytes, and tells no place where it made the node itself.
    start = _characters(text, int(node.get("query_location", 0)))
    length = int(node.get("query_location_length", 0))
    end = _characters(text, int(node.get("query_location", 0)) + length)
    return Span(start, max(end, start + 1))


def _characters(text: str, place: int) -> int:
    return len(text.encode()[:place].decode(errors="ignore"))
