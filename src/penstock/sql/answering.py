"""What a shell needs of whoever answers its statements: a session here, or a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from penstock.sql.answer import Answer


class Answering(Protocol):
    """Answers statements."""

    def run(self, text: str) -> Iterator[Answer]:
        """Carry out the statements of a text; the first that is refused ends it."""
        ...

    def catch_up(self) -> None:
        """Let the queries that run here read all that there is."""
        ...

    def follow_queries(self) -> Mapping[str, BaseException]:
        """Let the queries run here from now on; give why some of them have ended."""
        ...

    def words(self) -> tuple[str, ...]:
        """Give the words that statements may have: keywords, names, columns, functions."""
        ...
