"""Statements that change the catalog: decided on what is there, written to the log as entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.file_source import with_columns
from penstock.front.sql.format import format_statement
from penstock.front.sql.source import SqlSource
from penstock.front.sql.statement import Done, Outcome, Started
from penstock.front.sql.tree_statement import (
    AlterSource,
    Control,
    CreateAs,
    CreateFunction,
    CreateSource,
    CreateType,
    DropNamed,
    DropSource,
    InsertSelect,
    SetProperty,
)
from penstock.log.port import Log
from penstock.schema.codec.schemas import Schemas
from penstock.sql.answer import Told
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import CatalogStore, Change
from penstock.sql.connector import no_connector
from penstock.sql.controlling import controlled
from penstock.sql.definitions import Definitions, copied, extended, query_id, with_settings
from penstock.sql.function_definition import function_created, function_dropped
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.plain_statement import plain_statement
from penstock.sql.query_start import latest_starts
from penstock.sql.registering import register, register_missing
from penstock.sql.topic_columns import TopicColumns
from penstock.sql.topics import drop_topic, ensure_result_topic, ensure_source_topic
from penstock.sql.type_definition import type_created, type_dropped, type_replaced

Defining: TypeAlias = (
    CreateSource
    | CreateAs
    | AlterSource
    | DropSource
    | CreateType
    | CreateFunction
    | DropNamed
    | InsertSelect
    | Control
    | SetProperty
)
DEFINING = (
    CreateSource,
    CreateAs,
    AlterSource,
    DropSource,
    CreateType,
    CreateFunction,
    DropNamed,
    InsertSelect,
    Control,
)


@dataclass(frozen=True, slots=True)
class _Decided:
    words: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


class Definer:
    """The catalog of a home: what it holds now, and how it is changed."""

    def __init__(self, log: Log, schemas: Schemas | None = None) -> None:
        self._log = log
        self._schemas = schemas
        self._store = CatalogStore(log)
        self._known: Definitions | None = None

    def definitions(self) -> Definitions:
        """Give the catalog with all that any process has changed."""
        return self._current(self._store.entries())

    def define(self, statement: Defining, settings: Mapping[str, str], query: str = "") -> Told:
        """Carry out a statement, all or nothing; the query that it makes gets the id given."""

        def decide(entries: tuple[CatalogEntry, ...]) -> tuple[_Decided, tuple[Change, ...]]:
            # Tried on a copy: it may not be written, or somebody may be quicker.
            scratch = copied(self._current(entries))
            decided = self._decided(statement, scratch, settings)
            changes = tuple(_with_query(change, query) for change in decided.changes)
            return decided, changes

        decided = self._store.change(decide)
        return Told(decided.words, decided.notes)

    def replace_type(self, statement: CreateType, settings: Mapping[str, str]) -> Told:
        """Put a type in the place of the one of its name."""
        words = self._store.change(
            lambda entries: type_replaced(statement, self._current(entries), settings)
        )
        return Told(words)

    def close(self) -> None:
        """Let go of the catalog."""
        self._store.close()

    def _current(self, entries: tuple[CatalogEntry, ...]) -> Definitions:
        self._known = extended(
            self._known, entries, self._store.reached, self._schemas, TopicColumns(self._log)
        )
        return self._known

    def _decided(
        self, statement: Defining, known: Definitions, settings: Mapping[str, str]
    ) -> _Decided:
        with_settings(known.catalog, settings)
        match statement:
            case CreateSource() | AlterSource():
                return self._source(statement, known, settings)
            case CreateAs() | InsertSelect():
                return self._query(statement, known, settings)
            case DropSource():
                return self._dropped(statement, known)
            case SetProperty():
                return _system_setting(statement, known)
            case Control():
                return _Decided(*controlled(statement, known))
            case _:
                return _decided_name(statement, known, settings)

    def _source(
        self,
        statement: CreateSource | AlterSource,
        known: Definitions,
        settings: Mapping[str, str],
    ) -> _Decided:
        before = known.catalog.get(statement.name.text)
        outcome, said, _ = resolved_as_said(statement, known.session)
        done = _done(outcome)
        made = known.catalog.get(statement.name.text)
        assert made is not None
        if made is before:
            return _Decided(done.words)
        old = known.entry(f"source:{made.name}")
        texts: tuple[str, ...]
        if isinstance(said, AlterSource):
            texts = (*(() if old is None else old.statements), format_statement(said))
        else:
            texts = (format_statement(plain_statement(said)),)
            ensure_source_topic(self._log, made, said)
            register_missing(made)
        number = known.next_number if old is None else old.number
        return _Decided(done.words, (_entry_of(made, number, texts, settings),))

    def _query(
        self, statement: CreateAs | InsertSelect, known: Definitions, settings: Mapping[str, str]
    ) -> _Decided:
        started, said, notes = resolved_as_said(statement, known.session)
        if not isinstance(started, Started):
            return _Decided(_done(started).words)
        old = known.entry(f"source:{started.writes.name}")
        number = known.next_number if old is None else old.number
        # Columns that a file has now are those of the query for good.
        said = with_columns(said, known.catalog, said.source)
        text = (format_statement(plain_statement(said)),)
        register(started.writes)
        ensure_result_topic(self._log, started)
        starts = latest_starts(started, self._log)
        if isinstance(said, InsertSelect):
            id_ = _wanted_id(said, known) or query_id(started, known.next_number)
            entry = CatalogEntry(
                "query", id_, known.next_number, text, query=id_, settings=dict(settings)
            )
            return _Decided(f"query {id_} created", (replace(entry, starts=starts),), notes)
        id_ = old.query if old is not None and old.query else query_id(started, known.next_number)
        entry = _entry_of(started.writes, number, text, settings)
        words = f"{said.kind} {started.writes.name} created by query {id_}"
        return _Decided(words, (replace(entry, query=id_, starts=starts),), notes)

    def _dropped(self, statement: DropSource, known: Definitions) -> _Decided:
        source = known.catalog.get(statement.name.text)
        done = _done(known.session.execute(statement))
        if source is None:
            return _Decided(done.words)
        notes: tuple[str, ...] = ()
        if statement.delete_topic:
            drop_topic(self._log, source.topic)
            notes = (f'topic "{source.topic}" deleted',)
        inserts = [id_ for id_ in known.writers(source.name) if known.entry(f"query:{id_}")]
        gone = (f"source:{source.name}", *(f"query:{id_}" for id_ in inserts))
        return _Decided(done.words, gone, notes)


def _decided_name(
    statement: CreateType | CreateFunction | DropNamed,
    known: Definitions,
    settings: Mapping[str, str],
) -> _Decided:
    match statement:
        case CreateFunction():
            return _Decided(*function_created(statement, known, settings))
        case DropNamed(what="function"):
            return _Decided(*function_dropped(statement, known))
        case DropNamed(what="connector"):
            raise no_connector(statement)
        case DropNamed():
            return _Decided(*type_dropped(statement, known))
        case CreateType():
            return _Decided(*type_created(statement, known, settings))


def _system_setting(statement: SetProperty, known: Definitions) -> _Decided:
    name, value = statement.name, statement.value
    old = known.entry(f"setting:{name}")
    number = known.next_number if old is None else old.number
    entry = CatalogEntry("setting", name, number, (), settings={name: value})
    return _Decided(f"{name} set to {value} for all sessions", (entry,))


def _entry_of(
    source: SqlSource, number: int, texts: tuple[str, ...], settings: Mapping[str, str]
) -> CatalogEntry:
    return CatalogEntry(
        source.kind,
        source.name,
        number,
        texts,
        source.topic,
        source.key_format.name,
        source.value_format.name,
        settings=dict(settings),
    )


def _with_query(change: Change, query: str) -> Change:
    if not query or isinstance(change, str) or not change.query:
        return change
    return replace(change, query=query)


def _wanted_id(statement: InsertSelect, known: Definitions) -> str:
    """Give the id that a statement asks for; one that another query has is refused."""
    for item in statement.properties:
        if item.name.upper() == "QUERY_ID":
            wanted = str(getattr(item.value, "value", getattr(item.value, "text", "")))
            if wanted.upper() in known.queries:
                fact = f'there is a query "{wanted.upper()}" already'
                raise SqlError(
                    "SQL_QUERY_EXISTS",
                    statement.source.shown(fact, item.span),
                    hint="Give another id, or leave it out.",
                )
            return wanted.upper()
    return ""


def _done(outcome: Outcome) -> Done:
    assert isinstance(outcome, Done)
    return outcome
