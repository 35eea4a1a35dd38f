"""TERMINATE, PAUSE and RESUME: what becomes of queries that run on, written to the catalog."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.statement import Started
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_statement import Control
from penstock.sql.catalog_entry import CatalogEntry
from penstock.sql.catalog_store import Change
from penstock.sql.definitions import Definitions
from penstock.sql.source_statement import source_statement

_DONE = {"terminate": "terminated", "pause": "paused", "resume": "resumed"}


def controlled(statement: Control, known: Definitions) -> tuple[str, tuple[Change, ...]]:
    """Give what is to be said, and what changes in the catalog."""
    wanted = list(known.queries)
    if statement.query is not None:
        wanted = [found_query(statement.query, known, statement.source).id]
    if not wanted:
        return "there are no queries", ()
    done = _DONE[statement.verb]
    if statement.verb == "terminate":
        changes = [_terminated(id_, known) for id_ in wanted]
        return f"query {', '.join(wanted)} {done}", tuple(changes)
    pause = statement.verb == "pause"
    due = [id_ for id_ in wanted if (id_ in known.paused) != pause]
    if not due:
        state = "paused already" if pause else "not paused"
        return f"query {', '.join(wanted)} is {state}", ()
    entries = [replace(_entry(id_, known), paused=pause) for id_ in due]
    return f"query {', '.join(due)} {done}", tuple(entries)


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


def _terminated(id_: str, known: Definitions) -> Change:
    """Let a query be no part of the catalog; what it wrote stays, as a source without a query."""
    entry = _entry(id_, known)
    if entry.kind == "query":
        return entry.key
    source = known.queries[id_].writes
    return replace(entry, statements=(source_statement(source),), query="", paused=False)


def _entry(id_: str, known: Definitions) -> CatalogEntry:
    """Give what the catalog keeps a query in: itself, or the source that it fills."""
    entry = known.entry(f"query:{id_}")
    entry = entry or known.entry(f"source:{known.queries[id_].writes.name}")
    assert entry is not None
    return entry
