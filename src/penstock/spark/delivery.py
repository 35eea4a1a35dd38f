"""What a crash may do to the results of a job: nothing, double some, or lose some.

- exactly-once: the rows of a batch are one transaction of the log, whose note is the batch's
  number. A batch that is run again finds its number noted.
- at-least-once: rows are appended as they are, without a transaction. What a crash cuts short is
  run again, and rows that were visible come twice.
- at-most-once: the same appends, and a batch that was begun is never run again; see
  `spark.give_up`.

A store notes the batch in the transaction of its rows whatever was chosen: it has one anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from penstock.log.bulk import append_all
from penstock.log.port import Log, Transaction
from penstock.model.job_settings import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa

Appends: TypeAlias = Mapping[tuple[str, int], Sequence["pa.Table"]]
"""Rows by topic and partition."""

NOTHING = -1


@dataclass(frozen=True, slots=True)
class Delivery:
    """Makes the rows of batches visible, as a job's guarantee says.

    Batches up to `silent_until` are done for what they leave in the states only.
    """

    job: str
    guarantee: Guarantee = "exactly-once"
    silent_until: int = NOTHING

    def is_silent(self, number: int) -> bool:
        """Whether all of a batch is visible, so that nothing of it is given again."""
        return number <= self.silent_until

    def deliver(self, log: Log, appends: Appends, number: int) -> None:
        """Append the rows of a batch, unless they are there."""
        # Without rows there is nothing to be seen twice, so nothing to note either.
        if not appends:
            return
        if self.guarantee != "exactly-once":
            for (topic, partition), parts in _sorted(appends):
                for part in parts:
                    log.append(topic, partition, part)
            return
        transaction = log.transaction(f"program-{self.job}")
        try:
            _write(transaction, appends, number)
        finally:
            transaction.close()


def _write(transaction: Transaction, appends: Appends, number: int) -> None:
    if transaction.note and int(transaction.note) >= number:
        return
    transaction.begin()
    items = ((*place, part) for place, parts in _sorted(appends) for part in parts)
    append_all(transaction, items)
    transaction.commit(str(number))


def _sorted(appends: Appends) -> list[tuple[tuple[str, int], Sequence[pa.Table]]]:
    return sorted(appends.items(), key=lambda item: item[0])
