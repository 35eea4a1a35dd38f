"""Sessions on logs of their own, and what they answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from penstock.log.open import open_log
from penstock.sql.answer import Answer, Followed, Listed, Told
from penstock.sql.session import SqlSession

ORDERS = (
    "CREATE STREAM orders (id STRING KEY, item STRING, amount INT)"
    " WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);"
)
PEOPLE = (
    "CREATE TABLE people (id STRING PRIMARY KEY, name STRING)"
    " WITH (KAFKA_TOPIC='people', VALUE_FORMAT='JSON', PARTITIONS=1);"
)


@contextmanager
def opened(home: Path, *, here: bool = False) -> Iterator[SqlSession]:
    """Open a session on a home."""
    with SqlSession(home, here=here) as session:
        yield session


def answers(session: SqlSession, text: str) -> list[Answer]:
    return list(session.run(text))


def told(session: SqlSession, text: str) -> str:
    """The words of the last answer."""
    last = answers(session, text)[-1]
    assert isinstance(last, Told)
    return last.words


def rows(session: SqlSession, text: str) -> list[tuple[Any, ...]]:
    """The rows of the last answer, which are all there."""
    last = answers(session, text)[-1]
    assert isinstance(last, Listed)
    return list(last.rows)


def followed(session: SqlSession, text: str) -> list[tuple[Any, ...]]:
    """The rows of the last answer until there are none for the moment."""
    for last in session.run(text):
        if isinstance(last, Followed):
            found: list[tuple[Any, ...]] = []
            for row in last.rows:
                if row is None:
                    return found
                found.append(row)
            return found
    raise AssertionError


def make_topics(home: Path, *names: str) -> None:
    with open_log(home) as log:
        for name in names:
            log.create_topic(name)
