"""A query of a case that is given records one at a time, wherever it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from penstock.front.sql.statement import Started
from tests.conformance.ksql_codec import Sent


class Feed(ABC):
    """A query that runs until it is closed."""

    @abstractmethod
    def push(self, record: Sent) -> list[Sent]:
        """Give a record; give what it made the query write."""

    @abstractmethod
    def replace(self, query: Started) -> None:
        """Go on as another query with what this one remembers, or anew where that cannot be."""

    @abstractmethod
    def close(self) -> None:
        """End the query."""

    def __enter__(self) -> Self:
        """Close it at the end of a with block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the query."""
        self.close()
