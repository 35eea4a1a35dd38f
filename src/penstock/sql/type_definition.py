"""CREATE TYPE and DROP TYPE: kept in the catalog, and not taken from what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.errors import SqlError
from penstock.front.sql.format import format_statement
from penstock.front.sql.statement import Done
from penstock.front.sql.tree_statement import CreateType, DropNamed
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import Change
from penstock.sql.definitions import Definitions, replayed
from penstock.sql.plain_statement import plain_statement


def type_created(
    statement: CreateType, known: Definitions, settings: Mapping[str, str]
) -> tuple[str, tuple[Change, ...]]:
    """Decide on a new type."""
    name = statement.name.text
    if name in known.catalog.types and statement.if_not_exists:
        return f"type {name} exists already", ()
    done = known.session.execute(statement)
    assert isinstance(done, Done)
    return done.words, (_entry(statement, known.next_number, settings),)


def type_replaced(
    statement: CreateType, known: Definitions, settings: Mapping[str, str]
) -> tuple[str, tuple[Change, ...]]:
    """Decide on another type of a name; it must still do for what is made of it."""
    old = known.entry(f"type:{statement.name.text}")
    assert old is not None
    entry = _entry(statement, old.number, settings)
    _check_users(statement, [entry if it is old else it for it in known.entries], known)
    return f"type {statement.name.text} replaced", (entry,)


def type_dropped(statement: DropNamed, known: Definitions) -> tuple[str, tuple[Change, ...]]:
    """Decide to forget a type; one that something is made of stays."""
    entry = known.entry(f"type:{statement.name.text}")
    done = known.session.execute(statement)
    assert isinstance(done, Done)
    if entry is None:
        return done.words, ()
    _check_users(statement, [it for it in known.entries if it is not entry], known)
    return done.words, (entry.key,)


def _entry(statement: CreateType, number: int, settings: Mapping[str, str]) -> CatalogEntry:
    text = format_statement(plain_statement(statement))
    return CatalogEntry("type", statement.name.text, number, (text,), settings=dict(settings))


def _check_users(
    statement: CreateType | DropNamed, entries: Sequence[CatalogEntry], known: Definitions
) -> None:
    """Refuse a change that leaves something without its type."""
    try:
        replayed(entries, schemas=known.catalog.schemas)
    except SqlError as error:
        why = error.fact.splitlines()[0]
        fact = f'type "{statement.name.text}" is used: {why}'
        raise SqlError(
            "SQL_TYPE_USED",
            statement.source.shown(fact, statement.name.span),
            hint="Drop what is made of it first.",
        ) from error
