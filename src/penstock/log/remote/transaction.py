"""A transaction in a log's server; it lives as long as the connection it was opened on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import pyarrow as pa

from penstock.errors import TransactionError
from penstock.log.port import Appended
from penstock.log.record import TopicPartition
from penstock.log.remote.exchange import Exchange, Line
from penstock.log.remote.values import encode_offsets
from penstock.log.remote.wire import Message, encode_rows


class RemoteTransaction:
    """Holds one transactional id; a lost connection aborts what is open.

    After an error LOG_UNREACHABLE of `commit`, the `note` under the same id tells whether it
    was done.
    """

    def __init__(self, exchange: Exchange, transactional_id: str) -> None:
        self._exchange = exchange
        self._id = transactional_id
        self._connection: Line | None = exchange.take()
        try:
            self._note = str(self._ask("transaction", {"transactional_id": transactional_id}))
        except BaseException:
            self._let_go()
            raise

    @property
    def note(self) -> str:
        """The note of the last transaction committed under this id ("" before the first)."""
        return self._note

    def begin(self) -> None:
        """Open a transaction; one at a time for each id."""
        self._ask("transaction.begin", {})

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
        """Append rows that nobody sees before `commit`."""
        place = {"topic": topic, "partition": partition}
        return Appended(*self._ask("transaction.append", place, encode_rows(rows)))

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a group's offsets become committed together with the records."""
        asked = {"group": group, "offsets": encode_offsets(offsets)}
        self._ask("transaction.commit_offsets", asked)

    def commit(self, note: str = "") -> None:
        """Make everything visible at once, with a note that `note` gives back after a restart."""
        self._note = self._ask("transaction.commit", {"note": note})

    def abort(self) -> None:
        """Make everything vanish."""
        self._ask("transaction.abort", {})

    def close(self) -> None:
        """Abort what is open and let go of the id; where the connection is lost, that is done."""
        try:
            if self._connection is not None and self._connection.is_usable:
                self._ask("transaction.close", {})
        finally:
            self._let_go()

    def __enter__(self) -> Self:
        """Use the id for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, arguments: dict[str, Any], rows: pa.Buffer | None = None) -> Any:  # noqa: ANN401  # what JSON holds
        connection = self._connection
        if connection is None:
            raise TransactionError(
                "TRANSACTION_NOT_OPEN",
                f'transaction "{self._id}" was closed',
                hint="Open it anew from the log.",
            )
        question = Message({"method": method, "arguments": arguments}, rows)
        return self._exchange.ask_on(connection, question).header["result"]

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._exchange.discard(connection)
