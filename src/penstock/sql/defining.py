"""Statements that change the catalog: decided on what is there, written to the log as entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.format import format_statement
from penstock.front.sql.source import SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.statement import Done, Outcome, Started
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_statement import (
    AlterSource,
    Control,
    CreateAs,
    CreateSource,
    CreateType,
    DropNamed,
    DropSource,
    InsertSelect,
)
from penstock.log.port import Log
from penstock.sql.answer import Told
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import CatalogStore, Change
from penstock.sql.definitions import Definitions, query_id, replayed, with_settings
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.plain_statement import plain_statement
from penstock.sql.source_statement import source_statement
from penstock.sql.topics import drop_topic, ensure_result_topic, ensure_source_topic

Defining: TypeAlias = (
    CreateSource
    | CreateAs
    | AlterSource
    | DropSource
    | CreateType
    | DropNamed
    | InsertSelect
    | Control
)
DEFINING = (
    CreateSource,
    CreateAs,
    AlterSource,
    DropSource,
    CreateType,
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

    def __init__(self, log: Log) -> None:
        self._log = log
        self._store = CatalogStore(log)
        self._known: Definitions | None = None

    def definitions(self) -> Definitions:
        """Give the catalog with all that any process has changed."""
        return self._current(self._store.entries())

    def define(self, statement: Defining, settings: Mapping[str, str]) -> Told:
        """Carry out a statement, all or nothing."""

        def decide(entries: tuple[CatalogEntry, ...]) -> tuple[_Decided, tuple[Change, ...]]:
            decided = self._decided(statement, self._current(entries), settings)
            return decided, decided.changes

        try:
            decided = self._store.change(decide)
        finally:
            # What was tried on it may not have been written.
            self._known = None
        return Told(decided.words, decided.notes)

    def close(self) -> None:
        """Let go of the catalog."""
        self._store.close()

    def _current(self, entries: tuple[CatalogEntry, ...]) -> Definitions:
        if self._known is None or self._known.entries != entries:
            self._known = replayed(entries)
        return self._known

    def _decided(
        self, statement: Defining, known: Definitions, settings: Mapping[str, str]
    ) -> _Decided:
        # Decided twice where somebody was quicker: never on what a first try has changed.
        self._known = None
        with_settings(known.catalog, settings)
        match statement:
            case CreateSource() | AlterSource():
                return self._source(statement, known, settings)
            case CreateAs() | InsertSelect():
                return self._query(statement, known, settings)
            case DropSource():
                return self._dropped(statement, known)
            case CreateType() | DropNamed():
                return _typed(statement, known, settings)
            case Control():
                return controlled(statement, known)

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
        text = (format_statement(plain_statement(said)),)
        ensure_result_topic(self._log, started)
        if isinstance(said, InsertSelect):
            id_ = _wanted_id(said) or query_id(started, known.next_number)
            entry = CatalogEntry(
                "query", id_, known.next_number, text, query=id_, settings=dict(settings)
            )
            return _Decided(f"query {id_} created", (entry,), notes)
        id_ = old.query if old is not None and old.query else query_id(started, known.next_number)
        entry = _entry_of(started.writes, number, text, settings)
        words = f"{said.kind} {started.writes.name} created by query {id_}"
        return _Decided(words, (replace(entry, query=id_),), notes)

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


def controlled(statement: Control, known: Definitions) -> _Decided:
    """Let a query be no part of the catalog; what it wrote stays, as a source without a query."""
    if statement.verb != "terminate":
        fact = f"a query cannot be told to {statement.verb} here"
        raise SqlError(
            "SQL_UNSUPPORTED",
            statement.source.shown(fact, statement.span),
            hint="Stop its process, and start it again: it goes on from where it was.",
        )
    wanted = list(known.queries)
    if statement.query is not None:
        wanted = [found_query(statement.query, known, statement.source).id]
    changes: list[Change] = []
    for id_ in wanted:
        if known.entry(f"query:{id_}") is not None:
            changes.append(f"query:{id_}")
            continue
        source = known.queries[id_].writes
        entry = known.entry(f"source:{source.name}")
        assert entry is not None
        changes.append(replace(entry, statements=(source_statement(source),), query=""))
    words = "no query runs" if not wanted else f"query {', '.join(wanted)} terminated"
    return _Decided(words, tuple(changes))


def found_query(name: Name, known: Definitions, text: SourceText) -> Started:
    """Give a query by its id; one that is not there is named with a suggestion."""
    found = known.queries.get(name.text)
    if found is None:
        fact = f'there is no query "{name.text}"'
        raise SqlError(
            "SQL_QUERY_MISSING",
            text.shown(fact, name.span),
            hint=did_you_mean(name.text, known.queries) or "SHOW QUERIES lists those there are.",
        )
    return found


def _typed(
    statement: CreateType | DropNamed, known: Definitions, settings: Mapping[str, str]
) -> _Decided:
    name = statement.name.text
    before = known.catalog.types.get(name)
    done = _done(known.session.execute(statement))
    if isinstance(statement, DropNamed):
        return _Decided(done.words, () if before is None else (f"type:{name}",))
    if before is not None:
        return _Decided(f"type {name} exists already")
    text = (format_statement(plain_statement(statement)),)
    entry = CatalogEntry("type", name, known.next_number, text, settings=dict(settings))
    return _Decided(done.words, (entry,))


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


def _wanted_id(statement: InsertSelect) -> str:
    for item in statement.properties:
        if item.name.upper() == "QUERY_ID":
            return str(getattr(item.value, "value", getattr(item.value, "text", "")))
    return ""


def _done(outcome: Outcome) -> Done:
    assert isinstance(outcome, Done)
    return outcome
