"""Snapshots in a database: what changed is written there, and outlives this machine."""

from __future__ import annotations

from penstock.connect.database import Row, transaction
from penstock.inline.state_store import Cut, Found
from penstock.log.port import Transaction
from penstock.model.store import Store

_BLOB = {"sqlite": "BLOB", "postgres": "BYTEA"}


class ExternalStore:
    """The snapshots of one program in a database.

    A state stands there under the number of the snapshot in which it changed: a snapshot is the
    newest of each bucket up to its number. One that never counted is written over.
    """

    survives = True

    def __init__(self, store: Store, program: str) -> None:
        self._store = store
        self._program = program
        blob = _BLOB[store.kind]
        with transaction(store) as session:
            session.run(
                "CREATE TABLE IF NOT EXISTS penstock_snapshots (program TEXT NOT NULL,"
                f" number BIGINT NOT NULL, header {blob} NOT NULL, noted INTEGER NOT NULL,"
                " PRIMARY KEY (program, number))"
            )
            session.run(
                "CREATE TABLE IF NOT EXISTS penstock_states (program TEXT NOT NULL,"
                " operator TEXT NOT NULL, bucket INTEGER NOT NULL, number BIGINT NOT NULL,"
                f" state {blob}, PRIMARY KEY (program, operator, bucket, number))"
            )

    def current(self) -> int | None:
        """Give the number of the snapshot that counts; none before the first."""
        found = self._run(
            "SELECT MAX(number) FROM penstock_snapshots WHERE program = ? AND noted = 1"
        )
        number: int | None = found[0][0]
        return number

    def read(self, number: int) -> Found | None:
        """Give a snapshot; none where it is not there."""
        header = self._run(
            "SELECT header FROM penstock_snapshots WHERE program = ? AND number = ?", number
        )
        if not header:
            return None
        states = self._run(
            "SELECT operator, bucket, state FROM penstock_states AS one WHERE program = ?"
            " AND state IS NOT NULL AND number = (SELECT MAX(number) FROM penstock_states AS other"
            " WHERE other.program = one.program AND other.operator = one.operator"
            " AND other.bucket = one.bucket AND other.number <= ?)",
            number,
        )
        blobs = {(operator, bucket): bytes(state) for operator, bucket, state in states}
        return Found(number, bytes(header[0][0]), blobs, "external")

    def write(self, cut: Cut, within: Transaction | None) -> None:  # noqa: ARG002
        """Store what changed, which counts once it is noted or its transaction is committed."""
        states: list[Row] = [
            (self._program, *bucket, cut.number, cut.blob(bucket)) for bucket in cut.changed
        ]
        states += [(self._program, *bucket, cut.number, None) for bucket in cut.gone]
        with transaction(self._store) as session:
            # Left by a run that died before they counted.
            for table in ("penstock_states", "penstock_snapshots"):
                session.run(
                    f"DELETE FROM {table} WHERE program = ? AND number >= ?",  # noqa: S608
                    (self._program, cut.number),
                )
            session.run_many("INSERT INTO penstock_states VALUES (?, ?, ?, ?, ?)", states)
            session.run(
                "INSERT INTO penstock_snapshots VALUES (?, ?, ?, 0)",
                (self._program, cut.number, cut.header),
            )

    def note(self, number: int) -> None:
        """Let a snapshot count, and forget those before it."""
        self.forget(number)

    def forget(self, number: int) -> None:
        """Forget what only other snapshots need; this one counts."""
        with transaction(self._store) as session:
            session.run(
                "UPDATE penstock_snapshots SET noted = 1 WHERE program = ? AND number = ?",
                (self._program, number),
            )
            session.run(
                "DELETE FROM penstock_snapshots WHERE program = ? AND number < ?",
                (self._program, number),
            )
            session.run(
                "DELETE FROM penstock_states WHERE program = ? AND number < ? AND EXISTS ("
                "SELECT 1 FROM penstock_states AS newer WHERE newer.program ="
                " penstock_states.program AND newer.operator = penstock_states.operator"
                " AND newer.bucket = penstock_states.bucket AND newer.number >"
                " penstock_states.number AND newer.number <= ?)",
                (self._program, number, number),
            )
            session.run(
                "DELETE FROM penstock_states WHERE program = ? AND number <= ? AND state IS NULL",
                (self._program, number),
            )

    def clear(self) -> None:
        """Forget everything of this program."""
        with transaction(self._store) as session:
            session.run("DELETE FROM penstock_states WHERE program = ?", (self._program,))
            session.run("DELETE FROM penstock_snapshots WHERE program = ?", (self._program,))

    def _run(self, statement: str, *values: object) -> list[Row]:
        with transaction(self._store) as session:
            return session.run(statement, (self._program, *values))
