"""Results in stores: each batch once, however often it is done again.

A store remembers who writes each table, and which batch it has had last, in the transaction that
brings the rows. A batch that is run again finds its number there and is left out. Who begins to
write a table takes it over; who wrote it before is then refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    name TEXT PRIMARY KEY, owner TEXT NOT NULL, batch BIGINT NOT NULL
)"""
BEFORE_ALL = -1


def stored_tables(physical: Physical) -> dict[str, StoredTable]:
    """Give the tables in stores that a program writes, by target."""
    return {
        output.id: StoredTable(output.sink)
        for output in physical.outputs
        if output.sink.store is not None
    }


def claim_tables(tables: Iterable[StoredTable], owner: str) -> None:
    """Create the tables that are not there, and become the only one who writes them."""
    for store, found in _by_store(tables):
        with transaction(store) as session:
            session.run(_WRITERS)
            for table in found:
                table.ensure(session)
                if _writer(session, table) is None:
                    session.run(
                        "INSERT INTO penstock_writers (name, owner, batch) VALUES (?, ?, ?)",
                        (table.name, owner, BEFORE_ALL),
                    )
                else:
                    session.run(
                        "UPDATE penstock_writers SET batch = ?, owner = ?"
                        " WHERE name = ? AND owner <> ?",
                        (BEFORE_ALL, owner, table.name, owner),
                    )


def write_batch(changes: Sequence[Change], owner: str, number: int) -> None:
    """Write the rows of a batch, unless they are there."""
    rows = {change[0].name: change[1] for change in changes}
    for store, tables in _by_store(table for table, _ in changes):
        with transaction(store) as session:
            for table in tables:
                if _had(session, table, owner) >= number:
                    continue
                table.apply(session, rows[table.name])
                session.run(
                    "UPDATE penstock_writers SET batch = ? WHERE name = ?", (number, table.name)
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


def _writer(session: Session, table: StoredTable) -> tuple[str, int] | None:
    # SQLite lets one write at a time anyway; a server must be told that nobody may come between.
    held = " FOR UPDATE" if session.store.kind == "postgres" else ""
    statement = f"SELECT owner, batch FROM penstock_writers WHERE name = ?{held}"  # noqa: S608
    found = session.run(statement, (table.name,))
    return (found[0][0], found[0][1]) if found else None


def _had(session: Session, table: StoredTable, owner: str) -> int:
    writer = _writer(session, table)
    if writer is None or writer[0] != owner:
        raise StoreError(
            "STORE_TAKEN",
            f'table "{table.name}" of {session.store} is written by another run now',
            hint="Nothing of this batch was written there: stop one of the two.",
        )
    return writer[1]
