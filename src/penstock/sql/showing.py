"""SHOW and DESCRIBE: what there is, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.functions.registry import describe, function_names
from penstock.front.sql.functions.user_functions import known_functions
from penstock.front.sql.side_stream import sides_of
from penstock.front.sql.source import SqlSource
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_statement import Describe, Show
from penstock.front.sql.types import type_text
from penstock.log.port import Log
from penstock.sql.answer import Cells, Listed, Told
from penstock.sql.connector import no_connector
from penstock.sql.definitions import Definitions
from penstock.sql.setting import SETTINGS
from penstock.sql.showing_queries import Place, query_words, show_queries, statistics
from penstock.sql.source_statement import source_statement

_Kind: TypeAlias = Literal["stream", "table"]


@dataclass(frozen=True, slots=True)
class View:
    """What can be shown."""

    home: Path
    definitions: Definitions
    log: Log
    settings: Mapping[str, str]
    variables: Mapping[str, str]

    @property
    def place(self) -> Place:
        """Where its queries are."""
        return Place(self.home, self.definitions, self.log)


def show(statement: Show, view: View) -> Listed:
    """Answer SHOW | LIST ...."""
    shown: Mapping[str, Callable[[], Listed]] = {
        "streams": lambda: _sources(view, "stream", sides=statement.extended),
        "tables": lambda: _sources(view, "table"),
        "topics": lambda: _topics(view, everything=statement.narrowed == "all"),
        "queries": lambda: show_queries(view.place, extended=statement.extended),
        "functions": lambda: _functions(view),
        "types": lambda: _types(view),
        "properties": lambda: _properties(view),
        "variables": lambda: _pairs("variable", view.variables),
    }
    if statement.what not in shown:
        raise no_connector(statement)
    return shown[statement.what]()


def described(statement: Describe, view: View) -> Listed | Told:
    """Answer DESCRIBE ...."""
    match statement.what:
        case "streams":
            return _sources(view, "stream", sides=statement.extended)
        case "tables":
            return _sources(view, "table")
        case "source" if statement.name is not None:
            source = view.definitions.catalog.source(statement.name, statement.source)
            return _extended(source, view) if statement.extended else _columns(source)
        case "function" if statement.name is not None:
            with known_functions(view.definitions.catalog.functions):
                return _function(statement, statement.name)
        case _:
            raise no_connector(statement)


def _sources(view: View, kind: _Kind, *, sides: bool = False) -> Listed:
    known = list(view.definitions.catalog)
    known += [side for it in known for side in _sides(it, view)] if sides else []
    rows = [
        (
            source.name,
            source.topic,
            source.key_format.name,
            source.value_format.name,
            source.window is not None,
        )
        for source in known
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


def _functions(view: View) -> Listed:
    with known_functions(view.definitions.catalog.functions):
        found = [describe(name) for name in function_names()]
    rows = tuple((it.name, it.kind, it.category, it.description) for it in found)
    return Listed(("function", "kind", "category", "description"), rows)


def _types(view: View) -> Listed:
    types = view.definitions.catalog.types
    rows = tuple(sorted((name, type_text(type_)) for name, type_ in types.items()))
    return Listed(("type", "is"), rows)


def _pairs(word: str, pairs: Mapping[str, str]) -> Listed:
    return Listed((word, "value"), tuple(sorted(pairs.items())))


def _properties(view: View) -> Listed:
    system = view.definitions.system_settings
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    levels = (("session", view.settings), ("system", system), ("default", defaults))
    found: dict[str, Cells] = {}
    for level, pairs in levels:
        for name, value in pairs.items():
            meaning = SETTINGS[name].meaning if name in SETTINGS else ""
            found.setdefault(name, (name, value, level, meaning))
    rows = tuple(found[name] for name in sorted(found))
    return Listed(("property", "value", "set by", "meaning"), rows)


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
        *(statistics(view.log, source.topic) if there else ()),
        ("key format", source.key_format.name),
        ("value format", source.value_format.name),
        ("event time", source.event_time.column if source.event_time else "that of the record"),
        *(("written by", query_words(view.place, it)) for it in definitions.writers(source.name)),
        *(("read by", query_words(view.place, it)) for it in definitions.readers(source.name)),
        *(
            (_BESIDE[side.side], f"{side.name}, topic {side.topic}")
            for side in _sides(source, view)
        ),
        ("statement", source_statement(source)),
    ]
    return Listed(("of", source.name), tuple(facts))


_BESIDE = {"late": "late rows", "dead": "dead letters"}


def _sides(source: SqlSource, view: View) -> tuple[SqlSource, ...]:
    """Give what lies beside the results of the queries that write to a source."""
    written = view.definitions.catalog.is_written(source.name)
    return tuple(sides_of(source)) if written else ()


def _function(statement: Describe, name: Name) -> Listed:
    try:
        it = describe(name.text)
    except SqlError as error:
        shown = statement.source.shown(error.fact, name.span)
        raise type(error)(error.code, shown, hint=error.hint) from error
    facts: list[Cells] = [
        ("kind", it.kind),
        ("category", it.category),
        ("description", it.description),
        *(
            ("form", f"{form} RETURNS {gives}" if gives else form)
            for form, gives in zip_longest(it.overloads, it.gives)
        ),
        ("example", it.example),
        ("gives", it.result),
        *((("of rows", it.over),) if it.over else ()),
    ]
    return Listed(("of", it.name), tuple(facts))
