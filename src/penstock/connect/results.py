"""Results in stores: each batch once, however often it is done again.

A store remembers who writes each table, and which batch it has had last, in the transaction that
brings the rows. A batch that is run again finds its number there and is left out. Who begins to
write a table takes it over; who wrote it before is then refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from penstock.connect.database import Session, transaction
from penstock.connect.table import StoredTable
from penstock.errors import StoreError
from penstock.kernel.port import Frame
from penstock.model.physical import Physical
from penstock.model.plan import Sink
from penstock.model.store import Store

Change: TypeAlias = tuple[StoredTable, Frame]

_WRITERS = """CREATE TABLE IF NOT EXISTS penstock_writers (
    name TEXT NOT NULL, share TEXT NOT NULL, owner TEXT NOT NULL, batch BIGINT NOT NULL,
    PRIMARY KEY (name, share)
)"""
BEFORE_ALL = -1


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes tables: a run, and its share of the rows where several write side by side."""

    run: str
    share: str = ""


def stored_tables(physical: Physical) -> dict[str, StoredTable]:
    """Give the tables in stores that a program writes, by target."""
    return {
        output.id: StoredTable(output.sink)
        for output in physical.outputs
        if output.sink.store is not None
    }


def claim_tables(tables: Iterable[StoredTable], writer: Writer) -> None:
    """Create the tables that are not there, and become the only one who writes this share."""
    for store, found in _by_store(tables):
        with transaction(store) as session:
            session.run(_WRITERS)
            for table in found:
                table.ensure(session)
                known = _last(session, table, writer)
                if known is None:
                    session.run(
                        "INSERT INTO penstock_writers VALUES (?, ?, ?, ?)",
                        (table.name, writer.share, writer.run, BEFORE_ALL),
                    )
                elif known[0] != writer.run:
                    session.run(
                        "UPDATE penstock_writers SET batch = ?, owner = ?"
                        " WHERE name = ? AND share = ?",
                        (BEFORE_ALL, writer.run, table.name, writer.share),
                    )


def write_batch(changes: Sequence[Change], writer: Writer, number: int) -> None:
    """Write the rows of a batch, unless they are there."""
    rows = {change[0].name: change[1] for change in changes}
    for store, tables in _by_store(table for table, _ in changes):
        with transaction(store) as session:
            for table in tables:
                if _had(session, table, writer) >= number:
                    continue
                table.apply(session, rows[table.name])
                session.run(
                    "UPDATE penstock_writers SET batch = ? WHERE name = ? AND share = ?",
                    (number, table.name, writer.share),
                )


def drop_tables(tables: Iterable[StoredTable]) -> None:
    """Remove tables with all that is known of them."""
    for store, found in _by_store(tables):
        with transaction(store) as session:
            session.run(_WRITERS)
            for table in found:
                table.drop(session)
                session.run("DELETE FROM penstock_writers WHERE name = ?", (table.name,))


def _by_store(tables: Iterable[StoredTable]) -> list[tuple[Store, list[StoredTable]]]:
    found: dict[Store, list[StoredTable]] = defaultdict(list)
    for table in tables:
        found[_store(table.sink)].append(table)
    return list(found.items())


def _store(sink: Sink) -> Store:
    assert sink.store is not None
    return sink.store


def _last(session: Session, table: StoredTable, writer: Writer) -> tuple[str, int] | None:
    """Give who wrote a share last, and which batch."""
    # SQLite lets one write at a time anyway; a server must be told that nobody may come between.
    held = " FOR UPDATE" if session.store.kind == "postgres" else ""
    statement = f"SELECT owner, batch FROM penstock_writers WHERE name = ? AND share = ?{held}"  # noqa: S608
    found = session.run(statement, (table.name, writer.share))
    return (found[0][0], found[0][1]) if found else None


def _had(session: Session, table: StoredTable, writer: Writer) -> int:
    last = _last(session, table, writer)
    if last is None or last[0] != writer.run:
        raise StoreError(
            "STORE_TAKEN",
            f'table "{table.name}" of {session.store} is written by another run now',
            hint="Nothing of this batch was written there: stop one of the two.",
        )
    return last[1]
