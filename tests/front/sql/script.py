"""A script run in the driver, one record at a time."""

from __future__ import annotations

import json
from typing import Any

from penstock.errors import SqlError
from penstock.front.sql.asking import ANSWER, Asked
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.parse import parse_script
from penstock.front.sql.statement import Outcome, Session, Started
from penstock.log.record import Record
from penstock.testing.driver import TestDriver

STREAM = "CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"
TABLE = "CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"


def outcomes(text: str, session: Session | None = None) -> list[Outcome]:
    """Carry out all statements of a text."""
    here = session or Session(Catalog())
    return [here.execute(statement) for statement in parse_script(text)]


def refusal(text: str) -> SqlError:
    """Give the error of a text that is refused."""
    try:
        outcomes(text)
    except SqlError as error:
        return error
    raise AssertionError("it was not refused")


class Script:
    """The last query of a script, to be given records."""

    def __init__(self, text: str) -> None:
        found = outcomes(text)[-1]
        assert isinstance(found, Started | Asked)
        self._topic = ANSWER if isinstance(found, Asked) else found.writes.topic
        self.query = found
        self.driver = TestDriver(found.plan)

    def push(self, topic: str, key: str | None, value: Any, time: int = 0) -> list[Any]:  # noqa: ANN401
        """Give a record; get what it causes, as key, value and time."""
        text = None if value is None else json.dumps(value).encode()
        name = None if key is None else key.encode()
        self.driver.push(topic, [Record(topic, 0, 0, time, name, text)])
        if self._topic == ANSWER:
            return self.driver.take(ANSWER)
        return [
            (row["_key"], None if row["value"] is None else json.loads(row["value"]), row["_time"])
            for row in self.driver.take(self._topic)
        ]
