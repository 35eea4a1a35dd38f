"""Tables in databases that a shadow has filled, put in the place of those they stand for."""

from __future__ import annotations

from penstock.connect.database import Session, quoted, transaction
from penstock.connect.results import stored_tables
from penstock.connect.table import StoredTable
from penstock.model.physical import Physical
from penstock.spark.shadow.version import shadow_name

_OWNER = "UPDATE penstock_writers SET name = ? WHERE name = ?"


def take_over_tables(physical: Physical, mark: str) -> None:
    """Let the rows of each shadow be those of its table, at one instant; again does no harm."""
    for table in stored_tables(physical).values():
        assert table.sink.store is not None
        with transaction(table.sink.store) as session:
            if session.columns(shadow_name(table.name, mark)) is not None:
                _replace(session, table, mark)


def _replace(session: Session, table: StoredTable, mark: str) -> None:
    shadow = shadow_name(table.name, mark)
    names = session.columns(shadow)
    if session.columns(table.name) == names and names is not None:
        # The table stays itself, with the indexes and views that others made of it.
        listed = ", ".join(map(quoted, names))
        session.run(f"DELETE FROM {quoted(table.name)}")  # noqa: S608  # a quoted name
        session.run(
            f"INSERT INTO {quoted(table.name)} ({listed})"  # noqa: S608  # quoted names
            f" SELECT {listed} FROM {quoted(shadow)}"
        )
        session.run(f"DROP TABLE {quoted(shadow)}")
    else:
        session.run(f"DROP TABLE IF EXISTS {quoted(table.name)}")
        session.run(f"ALTER TABLE {quoted(shadow)} RENAME TO {quoted(table.name)}")
    session.run("DELETE FROM penstock_writers WHERE name = ?", (table.name,))
    session.run(_OWNER, (table.name, shadow))
