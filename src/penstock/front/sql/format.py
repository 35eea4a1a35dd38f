"""Statements as SQL text, one way for each: reading it gives the same tree again."""

from __future__ import annotations

from penstock.front.sql.format_expression import format_values
from penstock.front.sql.format_name import (
    format_body,
    format_duration,
    format_name,
    format_names,
    format_text,
    format_type,
)
from penstock.front.sql.format_query import format_properties, format_query
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_query import Property
from penstock.front.sql.tree_statement import (
    AlterSource,
    AssertSchema,
    AssertSource,
    AssertTopic,
    AssertValues,
    ColumnDefinition,
    Control,
    CreateAs,
    CreateConnector,
    CreateFunction,
    CreateSource,
    CreateType,
    Define,
    Describe,
    DropNamed,
    DropSource,
    Explain,
    InsertSelect,
    InsertValues,
    Print,
    QueryStatement,
    RunScript,
    SetProperty,
    Show,
    Statement,
    Undefine,
    UnsetProperty,
)


def format_statement(statement: Statement) -> str:
    """Write a statement, with its semicolon."""
    return f"{_text(statement)};"


def _text(statement: Statement) -> str:
    match statement:
        case CreateSource() | CreateAs() | CreateType() | CreateFunction() | CreateConnector():
            return _created(statement)
        case AlterSource() | DropSource() | DropNamed():
            return _changed(statement)
        case QueryStatement() | InsertSelect() | InsertValues():
            return _inserted(statement)
        case Show() | Describe() | Print() | Explain():
            return _asked(statement)
        case AssertValues() | AssertSource() | AssertTopic() | AssertSchema():
            return _asserted(statement)
        case _:
            return _controlled(statement)


def _created(
    it: CreateSource | CreateAs | CreateType | CreateFunction | CreateConnector,
) -> str:
    once = "IF NOT EXISTS" if it.if_not_exists else ""
    name = format_name(it.name)
    match it:
        case CreateSource(kind):
            word = f"SOURCE {kind.upper()}" if it.read_only else kind.upper()
            head = _words(_create(replace=it.or_replace), word, once, name)
            return _words(head, _columns(it.columns), _with(it.properties))
        case CreateAs(kind, _, query):
            head = _words(_create(replace=it.or_replace), kind.upper(), once, name)
            return f"{_words(head, _with(it.properties), 'AS')}\n{format_query(query)}"
        case CreateType(_, type_):
            return _words("CREATE TYPE", once, name, "AS", format_type(type_))
        case CreateConnector(kind):
            return _words(
                "CREATE", kind.upper(), "CONNECTOR", once, name, _with(it.properties, always=True)
            )
        case CreateFunction():
            return _function(it)


def _create(*, replace: bool) -> str:
    return "CREATE OR REPLACE" if replace else "CREATE"


def _function(it: CreateFunction) -> str:
    kind = "" if it.kind == "scalar" else it.kind.upper()
    once = "IF NOT EXISTS" if it.if_not_exists else ""
    listed = ", ".join(f"{format_name(p.name)} {format_type(p.type)}" for p in it.parameters)
    return _words(
        _create(replace=it.or_replace),
        kind,
        "FUNCTION",
        once,
        f"{format_name(it.name)}({listed})",
        f"RETURNS {format_type(it.returns)}",
        "VECTORISED" if it.vectorised else "",
        f"LANGUAGE {format_name(it.language)}",
        _with(it.properties),
        f"AS {format_body(it.body)}",
    )


def _changed(it: AlterSource | DropSource | DropNamed) -> str:
    name = format_name(it.name)
    match it:
        case AlterSource(kind, _, columns):
            added = ", ".join(f"ADD COLUMN {_column(column)}" for column in columns)
            return f"ALTER {kind.upper()} {name} {added}"
        case DropSource(kind, _, if_exists, delete_topic):
            once = "IF EXISTS" if if_exists else ""
            return _words("DROP", kind.upper(), once, name, "DELETE TOPIC" if delete_topic else "")
        case DropNamed(what, _, if_exists):
            return _words("DROP", what.upper(), "IF EXISTS" if if_exists else "", name)


def _inserted(it: QueryStatement | InsertSelect | InsertValues) -> str:
    match it:
        case QueryStatement(query):
            return format_query(query)
        case InsertSelect(name, query, properties):
            head = _words("INSERT INTO", format_name(name), _with(properties))
            return f"{head}\n{format_query(query)}"
        case InsertValues(name, rows, columns):
            listed = ", ".join(f"({format_values(row)})" for row in rows)
            return _words("INSERT INTO", format_name(name), _listed(columns), "VALUES", listed)


def _asked(it: Show | Describe | Print | Explain) -> str:
    match it:
        case Show(what, extended, narrowed):
            return _words("SHOW", (narrowed or "").upper(), what.upper(), _extended(on=extended))
        case Describe(what, name, extended):
            word = "" if what == "source" else what.upper()
            named = "" if name is None else format_name(name)
            return _words("DESCRIBE", word, named, _extended(on=extended))
        case Print(topic, beginning, interval, limit):
            return _words(
                f"PRINT {format_text(topic)}",
                "FROM BEGINNING" if beginning else "",
                "" if interval is None else f"INTERVAL {interval}",
                "" if limit is None else f"LIMIT {limit}",
            )
        case Explain(target, analyze):
            said = format_name(target) if isinstance(target, Name) else _text(target)
            return _words("EXPLAIN", "ANALYZE" if analyze else "", said)


def _asserted(it: AssertValues | AssertSource | AssertTopic | AssertSchema) -> str:
    match it:
        case AssertValues(name, row, columns, tombstone):
            head = "ASSERT NULL VALUES" if tombstone else "ASSERT VALUES"
            word = "KEY" if tombstone else "VALUES"
            said = f"({format_values(row)})"
            return _words(head, format_name(name), _listed(columns), word, said)
        case AssertSource(kind, name, columns, properties):
            head = f"ASSERT {kind.upper()} {format_name(name)}"
            return _words(head, _columns(columns), _with(properties))
        case AssertTopic(topic, properties):
            return _words(
                _assert(exists=it.exists), "TOPIC", format_text(topic), _with(properties), _time(it)
            )
        case AssertSchema(subject, number):
            return _words(
                _assert(exists=it.exists),
                "SCHEMA",
                "" if subject is None else f"SUBJECT {format_text(subject)}",
                "" if number is None else f"ID {number}",
                _time(it),
            )


def _assert(*, exists: bool) -> str:
    return "ASSERT" if exists else "ASSERT NOT EXISTS"


def _time(it: AssertTopic | AssertSchema) -> str:
    return "" if it.timeout is None else f"TIMEOUT {format_duration(it.timeout)}"


def _controlled(
    it: Control | SetProperty | UnsetProperty | Define | Undefine | RunScript,
) -> str:
    match it:
        case Control(verb, query):
            return f"{verb.upper()} {'ALL' if query is None else format_name(query)}"
        case SetProperty(name, value, system):
            head = "ALTER SYSTEM" if system else "SET"
            return f"{head} {format_text(name)} = {format_text(value)}"
        case UnsetProperty(name):
            return f"UNSET {format_text(name)}"
        case Define(variable, value):
            return f"DEFINE {format_name(variable)} = {format_text(value)}"
        case Undefine(variable):
            return f"UNDEFINE {format_name(variable)}"
        case RunScript(path):
            return f"RUN SCRIPT {format_text(path)}"


def _words(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _extended(*, on: bool) -> str:
    return "EXTENDED" if on else ""


def _with(properties: tuple[Property, ...], *, always: bool = False) -> str:
    return f"WITH {format_properties(properties)}" if properties or always else ""


def _listed(names: tuple[Name, ...] | None) -> str:
    return "" if names is None else f"({format_names(names)})"


def _columns(columns: tuple[ColumnDefinition, ...] | None) -> str:
    return "" if columns is None else f"({', '.join(map(_column, columns))})"


def _column(column: ColumnDefinition) -> str:
    role = "" if column.role == "value" else column.role.upper()
    if column.header is not None:
        role = f"HEADER({format_text(column.header)})"
    return _words(format_name(column.name), format_type(column.type), role)
