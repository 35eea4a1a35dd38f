"""SHOW and DESCRIBE: what there is, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.functions.registry import describe, function_names
from penstock.front.sql.source import SqlSource
from penstock.front.sql.tree_statement import Describe, Show
from penstock.front.sql.types import type_text
from penstock.log.port import Log
from penstock.sql.answer import Cells, Listed, Told
from penstock.sql.definitions import Definitions
from penstock.sql.source_statement import source_statement

_Kind: TypeAlias = Literal["stream", "table"]


@dataclass(frozen=True, slots=True)
class View:
    """What can be shown."""

    definitions: Definitions
    log: Log
    settings: Mapping[str, str]
    variables: Mapping[str, str]


def show(statement: Show, view: View) -> Listed:
    """Answer SHOW | LIST ...."""
    shown: Mapping[str, Callable[[], Listed]] = {
        "streams": lambda: _sources(view, "stream"),
        "tables": lambda: _sources(view, "table"),
        "topics": lambda: _topics(view, everything=statement.narrowed == "all"),
        "queries": lambda: _queries(view),
        "functions": _functions,
        "types": lambda: _types(view),
        "properties": lambda: _pairs("property", view.settings),
        "variables": lambda: _pairs("variable", view.variables),
    }
    if statement.what not in shown:
        raise SqlError(
            "SQL_UNSUPPORTED",
            statement.source.shown(f"there are no {statement.what} here", statement.span),
            hint=f"There are: {', '.join(shown)}.",
        )
    return shown[statement.what]()


def described(statement: Describe, view: View) -> Listed | Told:
    """Answer DESCRIBE ...."""
    match statement.what:
        case "streams":
            return _sources(view, "stream")
        case "tables":
            return _sources(view, "table")
        case "source" if statement.name is not None:
            source = view.definitions.catalog.source(statement.name, statement.source)
            return _extended(source, view) if statement.extended else _columns(source)
        case "function" if statement.name is not None:
            return _function(statement.name.text)
        case _:
            fact = f"there is no {statement.what} to be described here"
            raise SqlError("SQL_UNSUPPORTED", statement.source.shown(fact, statement.span))


def _sources(view: View, kind: _Kind) -> Listed:
    rows = [
        (
            source.name,
            source.topic,
            source.key_format.name,
            source.value_format.name,
            source.window is not None,
        )
        for source in view.definitions.catalog
        if source.kind == kind
    ]
    columns = (kind, "topic", "key format", "value format", "windowed")
    return Listed(columns, tuple(sorted(rows)))


def _topics(view: View, *, everything: bool) -> Listed:
    names = [name for name in view.log.topics() if everything or not name.startswith("_")]
    rows = tuple(
        (name, view.log.topic(name).partitions, _offsets(view.log, name)) for name in names
    )
    return Listed(("topic", "partitions", "offsets"), rows)


def _offsets(log: Log, topic: str) -> int:
    return sum(bounds.end - bounds.start for bounds in log.snapshot([topic]).values())


def _queries(view: View) -> Listed:
    rows = [
        (
            id_,
            query.writes.name,
            ", ".join(read.name for read in query.reads),
            _statement(id_, view.definitions),
        )
        for id_, query in view.definitions.queries.items()
    ]
    return Listed(("query", "writes", "reads", "statement"), tuple(rows))


def _statement(id_: str, definitions: Definitions) -> str:
    found = [entry for entry in definitions.entries if id_ in {entry.query, entry.name}]
    return found[0].statements[-1] if found else ""


def _functions() -> Listed:
    found = [describe(name) for name in function_names()]
    rows = tuple((it.name, it.kind, it.category, it.description) for it in found)
    return Listed(("function", "kind", "category", "description"), rows)


def _types(view: View) -> Listed:
    types = view.definitions.catalog.types
    rows = tuple(sorted((name, type_text(type_)) for name, type_ in types.items()))
    return Listed(("type", "is"), rows)


def _pairs(word: str, pairs: Mapping[str, str]) -> Listed:
    return Listed((word, "value"), tuple(sorted(pairs.items())))


def _columns(source: SqlSource) -> Listed:
    role = {
        "key": "primary key" if source.is_table else "key",
        "headers": "headers",
        "header": "header",
    }
    rows = tuple(
        (column.name, type_text(column.type), role.get(column.role, ""))
        for column in source.columns
    )
    return Listed(("column", "type", "role"), rows)


def _extended(source: SqlSource, view: View) -> Listed:
    definitions = view.definitions
    there = source.topic in view.log.topics()
    facts: list[Cells] = [
        *(
            (f"column {name}", f"{type_} {role}".rstrip())
            for name, type_, role in _columns(source).rows
        ),
        ("kind", source.kind),
        ("topic", source.topic),
        ("partitions", view.log.topic(source.topic).partitions if there else None),
        ("offsets", _offsets(view.log, source.topic) if there else None),
        ("key format", source.key_format.name),
        ("value format", source.value_format.name),
        ("event time", source.event_time.column if source.event_time else "that of the record"),
        ("written by", ", ".join(definitions.writers(source.name))),
        ("read by", ", ".join(definitions.readers(source.name))),
        ("statement", source_statement(source)),
    ]
    return Listed(("of", source.name), tuple(facts))


def _function(name: str) -> Listed:
    it = describe(name)
    facts: list[Cells] = [
        ("kind", it.kind),
        ("category", it.category),
        ("description", it.description),
        *(("form", form) for form in it.overloads),
        ("example", it.example),
        ("gives", it.result),
    ]
    return Listed(("of", it.name), tuple(facts))
