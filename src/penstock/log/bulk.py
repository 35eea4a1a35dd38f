"""Appending to many partitions in one transaction, by one call where a log gains by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from penstock.log.port import Transaction

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.log.prepared import Prepared


@runtime_checkable
class BulkTransaction(Protocol):
    """A transaction that waits for all appends at once, at its commit."""

    def append_all(self, items: Iterable[tuple[str, int, pa.Table]]) -> None:
        """Append rows to partitions."""
        ...


def append_all(
    transaction: Transaction, items: Iterable[tuple[str, int, pa.Table | Prepared]]
) -> None:
    """Append rows to partitions of topics, in the order given."""
    if isinstance(transaction, BulkTransaction):
        transaction.append_all(items)
        return
    for topic, partition, rows in items:
        transaction.append(topic, partition, rows)
