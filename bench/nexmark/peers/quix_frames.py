"""What the queries of Quix Streams are built with: rows, their states, and where they come from."""

from __future__ import annotations

from typing import Any, Protocol

Row = dict[str, Any]
Frame = Any
State = Any

PLAIN_BID = ("auction", "bidder", "price", "date_time", "extra")


class Frames(Protocol):
    """What a query is built with."""

    def read(self, kind: str, key: str) -> Frame:
        """Give one kind of events, by a key."""

    def regroup(self, frame: Frame, column: str) -> Frame:
        """Give rows by another key: they go through a topic of their own."""

    def side(self) -> dict[int, str]:
        """Give the table at rest."""


def some(row: Row, names: tuple[str, ...]) -> Row:
    """Give some columns of a row."""
    return {name: row[name] for name in names}
