"""CREATE FUNCTION and DROP FUNCTION: tried out, kept in the catalog, and not taken from queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.format import format_statement
from penstock.front.sql.statement import Done
from penstock.front.sql.tree_statement import CreateFunction, DropNamed
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import Change
from penstock.sql.definitions import Definitions, replayed
from penstock.sql.plain_statement import plain_statement

Decision: TypeAlias = tuple[str, tuple[Change, ...], tuple[str, ...]]
"""What is answered, what is written, and what is noted."""


def function_created(
    statement: CreateFunction, known: Definitions, settings: Mapping[str, str]
) -> Decision:
    """Decide on a new function; one that is replaced must still do for what calls it."""
    name = statement.name.text.upper()
    before = known.catalog.functions.get(name)
    done = known.session.execute(statement)
    assert isinstance(done, Done)
    made = known.catalog.functions[name]
    if made is before:
        return done.words, (), ()
    from penstock.sql.function_trial import tried  # noqa: PLC0415  # polars

    notes = tried(made, statement, known.catalog)
    old = known.entry(f"function:{name}")
    text = format_statement(plain_statement(statement))
    number = known.next_number if old is None else old.number
    entry = CatalogEntry("function", name, number, (text,), settings=dict(settings))
    if old is not None:
        others = [it for it in known.entries if it is not old]
        _check_callers(statement, [*others, entry])
    return done.words, (entry,), notes


def function_dropped(statement: DropNamed, known: Definitions) -> Decision:
    """Decide to forget a function; one that a query calls stays."""
    name = statement.name.text.upper()
    done = known.session.execute(statement)
    assert isinstance(done, Done)
    entry = known.entry(f"function:{name}")
    if entry is None:
        return done.words, (), ()
    _check_callers(statement, [it for it in known.entries if it is not entry])
    return done.words, (f"function:{name}",), ()


def _check_callers(statement: CreateFunction | DropNamed, entries: list[CatalogEntry]) -> None:
    """Refuse a change that leaves a query without its function."""
    try:
        replayed(entries)
    except SqlError as error:
        why = error.fact.splitlines()[0]
        fact = f"function {statement.name.text} is called: {why}"
        raise SqlError(
            "SQL_FUNCTION_USED",
            statement.source.shown(fact, statement.name.span),
            hint="Drop what calls it first, or replace it by one that takes and gives the same.",
        ) from error
