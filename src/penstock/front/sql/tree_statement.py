"""Statements: what a script is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.front.sql.source_text import NO_TEXT, SourceText
from penstock.front.sql.tree import Duration, Name, Node, SqlType
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_query import Property, Query

SourceKind: TypeAlias = Literal["stream", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Node):
    """A statement; `source` is its text, with which an error shows a span of it."""

    source: SourceText = field(default=NO_TEXT, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnDefinition(Node):
    """Name type [KEY | PRIMARY KEY | HEADERS | HEADER('k')]; `header` is the k."""

    name: Name
    type: SqlType
    role: Literal["value", "key", "primary key", "headers", "header"] = "value"
    header: str | None = None


@dataclass(frozen=True, slots=True)
class CreateSource(Said):
    """CREATE [OR REPLACE] [SOURCE] STREAM | TABLE [IF NOT EXISTS] n [(columns)] [WITH (...)].

    `columns` is none where no list is given, so that they are taken from the registry.
    """

    kind: SourceKind
    name: Name
    columns: tuple[ColumnDefinition, ...] | None = None
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class CreateAs(Said):
    """CREATE [OR REPLACE] STREAM | TABLE [IF NOT EXISTS] n [WITH (...)] AS query."""

    kind: SourceKind
    name: Name
    query: Query
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class AlterSource(Said):
    """ALTER STREAM | TABLE n ADD [COLUMN] c type, ...."""

    kind: SourceKind
    name: Name
    columns: tuple[ColumnDefinition, ...]


@dataclass(frozen=True, slots=True)
class DropSource(Said):
    """DROP STREAM | TABLE [IF EXISTS] n [DELETE TOPIC]."""

    kind: SourceKind
    name: Name
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True, slots=True)
class CreateType(Said):
    """CREATE TYPE [IF NOT EXISTS] n AS type."""

    name: Name
    type: SqlType
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """Name type of a function."""

    name: Name
    type: SqlType


@dataclass(frozen=True, slots=True)
class CreateFunction(Said):
    """CREATE [OR REPLACE] [AGGREGATE | TABLE] FUNCTION [IF NOT EXISTS] n (parameter type, ...).

    Then RETURNS type [VECTORISED] LANGUAGE language [WITH (...)] AS 'text' or $$text$$.
    """

    name: Name
    parameters: tuple[Parameter, ...]
    returns: SqlType
    language: Name
    body: str
    kind: Literal["scalar", "aggregate", "table"] = "scalar"
    vectorised: bool = False
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateConnector(Said):
    """CREATE SOURCE | SINK CONNECTOR [IF NOT EXISTS] n WITH (...)."""

    kind: Literal["source", "sink"]
    name: Name
    properties: tuple[Property, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropNamed(Said):
    """DROP TYPE | CONNECTOR | FUNCTION [IF EXISTS] n."""

    what: Literal["type", "connector", "function"]
    name: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class InsertSelect(Said):
    """INSERT INTO n [WITH (...)] query."""

    name: Name
    query: Query
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class InsertValues(Said):
    """INSERT INTO n [(columns)] VALUES (expression, ...), ...."""

    name: Name
    rows: tuple[tuple[Expression, ...], ...]
    columns: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class QueryStatement(Said):
    """A query by itself: a pull query, or with EMIT a push query."""

    query: Query


@dataclass(frozen=True, slots=True)
class Show(Said):
    """SHOW | LIST what [EXTENDED].

    `narrowed` is ALL of topics, and SOURCE or SINK of connectors.
    """

    what: Literal[
        "properties",
        "topics",
        "streams",
        "tables",
        "functions",
        "connectors",
        "connector plugins",
        "types",
        "variables",
        "queries",
    ]
    extended: bool = False
    narrowed: Literal["all", "source", "sink"] | None = None


@dataclass(frozen=True, slots=True)
class Describe(Said):
    """DESCRIBE n [EXTENDED], FUNCTION n, CONNECTOR n, STREAMS or TABLES [EXTENDED]."""

    what: Literal["source", "function", "connector", "streams", "tables"]
    name: Name | None = None
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Print(Said):
    """PRINT topic [FROM BEGINNING] [INTERVAL n] [LIMIT n]; a topic's name as it was spelt."""

    topic: str
    from_beginning: bool = False
    interval: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Explain(Said):
    """EXPLAIN [ANALYZE] statement, or EXPLAIN the query with an id."""

    target: Statement | Name
    analyze: bool = False


@dataclass(frozen=True, slots=True)
class Control(Said):
    """TERMINATE, PAUSE or RESUME a query; no id is ALL."""

    verb: Literal["terminate", "pause", "resume"]
    query: Name | None


@dataclass(frozen=True, slots=True)
class SetProperty(Said):
    """SET 'name' = 'value', or ALTER SYSTEM 'name' = 'value'."""

    name: str
    value: str
    system: bool = False


@dataclass(frozen=True, slots=True)
class UnsetProperty(Said):
    """UNSET 'name'."""

    name: str


@dataclass(frozen=True, slots=True)
class Define(Said):
    """DEFINE variable = 'value'; the statements after it were already read with it."""

    name: Name
    value: str


@dataclass(frozen=True, slots=True)
class Undefine(Said):
    """UNDEFINE variable."""

    name: Name


@dataclass(frozen=True, slots=True)
class RunScript(Said):
    """RUN SCRIPT 'path'."""

    path: str


@dataclass(frozen=True, slots=True)
class AssertValues(Said):
    """ASSERT VALUES n [(columns)] VALUES (...), or ASSERT NULL VALUES n [(columns)] KEY (...)."""

    name: Name
    row: tuple[Expression, ...]
    columns: tuple[Name, ...] | None = None
    tombstone: bool = False


@dataclass(frozen=True, slots=True)
class AssertSource(Said):
    """ASSERT STREAM | TABLE n [(columns)] [WITH (...)]."""

    kind: SourceKind
    name: Name
    columns: tuple[ColumnDefinition, ...] | None = None
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class AssertTopic(Said):
    """ASSERT [NOT EXISTS] TOPIC n [WITH (...)] [TIMEOUT duration]."""

    topic: str
    properties: tuple[Property, ...] = ()
    exists: bool = True
    timeout: Duration | None = None


@dataclass(frozen=True, slots=True)
class AssertSchema(Said):
    """ASSERT [NOT EXISTS] SCHEMA [SUBJECT s] [ID n] [TIMEOUT duration]."""

    subject: str | None = None
    id: int | None = None
    exists: bool = True
    timeout: Duration | None = None


Statement: TypeAlias = (
    CreateSource
    | CreateAs
    | AlterSource
    | DropSource
    | CreateType
    | CreateFunction
    | CreateConnector
    | DropNamed
    | InsertSelect
    | InsertValues
    | QueryStatement
    | Show
    | Describe
    | Print
    | Explain
    | Control
    | SetProperty
    | UnsetProperty
    | Define
    | Undefine
    | RunScript
    | AssertValues
    | AssertSource
    | AssertTopic
    | AssertSchema
)
