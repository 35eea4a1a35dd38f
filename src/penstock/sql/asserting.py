"""ASSERT: sources, records and topics that are as a script says they are."""

from __future__ import annotations

import time

from penstock.errors import SqlError
from penstock.front.sql.assertion import Expected
from penstock.front.sql.tree_statement import AssertTopic
from penstock.log.port import Log

_PAUSE = 0.05


class Asserting:
    """What was asserted so far: each record of a source is looked at once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._places: dict[str, int] = {}

    def values(self, expected: Expected) -> str:
        """Refuse where the next record of a source is not as it is said to be."""
        from penstock.sql.records import check_expected  # noqa: PLC0415  # polars

        name = expected.source.name
        place = self._places.get(name, 0)
        check_expected(self._log, expected, place)
        self._places[name] = place + 1
        return f"record {place} of {name} is as asserted"

    def topic(self, statement: AssertTopic) -> str:
        """Refuse where a topic is not there, or is though it must not be."""
        patience = 0.0 if statement.timeout is None else statement.timeout.delta.total_seconds()
        deadline = time.monotonic() + patience
        while (statement.topic in self._log.topics()) != statement.exists:
            if time.monotonic() >= deadline:
                found = "does not exist" if statement.exists else "exists"
                fact = f'topic "{statement.topic}" {found}'
                raise SqlError(
                    "SQL_ASSERT",
                    statement.source.shown(fact, statement.span),
                    hint="SHOW TOPICS lists those there are.",
                )
            time.sleep(_PAUSE)
        if statement.exists:
            self._check_partitions(statement)
        return f"topic {statement.topic} is as asserted"

    def _check_partitions(self, statement: AssertTopic) -> None:
        for item in statement.properties:
            if item.name.upper() == "REPLICAS":
                # One home keeps each record once: any number that is asked for holds.
                continue
            if item.name.upper() != "PARTITIONS":
                fact = f'a topic has no property "{item.name}"'
                raise SqlError(
                    "SQL_PROPERTY",
                    statement.source.shown(fact, item.span),
                    hint="It has PARTITIONS and REPLICAS.",
                )
            has = self._log.topic(statement.topic).partitions
            wanted = getattr(item.value, "value", None)
            if str(wanted) != str(has):
                fact = f'topic "{statement.topic}" has {has} partitions, not {wanted}'
                raise SqlError("SQL_ASSERT", statement.source.shown(fact, item.span))
