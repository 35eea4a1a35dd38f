"""What became of a transaction: the question partitions and groups ask."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

Outcome: TypeAlias = Literal["committed", "aborted", "open"]


class TransactionDecisions(Protocol):
    """Knows the outcome of every transaction that has no marker yet."""

    def outcome(self, writer_id: int, epoch: int, number: int) -> Outcome:
        """Whether a transaction was committed or aborted, or is still open."""
        ...
