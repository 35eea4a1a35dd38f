"""Scripts that assert what they wrote: every record goes through all queries at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.errors import PenstockError
from penstock.front.sql.assertion import Expected
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.insert import Inserted
from penstock.front.sql.parse import parse_script
from penstock.front.sql.rows import GONE, Opening
from penstock.front.sql.source import ROW_TIME
from penstock.front.sql.statement import Session, Started
from penstock.testing.driver import TestDriver
from tests.conformance.ksql_case import Tree
from tests.conformance.ksql_codec import Sent
from tests.conformance.ksql_driver import constant, inserted_records, pushed


def run_script(tree: Tree) -> str:
    """Run a script; give what it asserts and is not so."""
    return "; ".join(_Script(tree).run())


class _Script:
    def __init__(self, tree: Tree) -> None:
        self._statements = "\n".join(tree["statements"])
        self._session = Session(Catalog())
        self._running: dict[str, tuple[Started, TestDriver]] = {}
        self._topics: dict[str, list[Sent]] = {}
        self._asserted: dict[str, int] = {}

    def run(self) -> Iterator[str]:
        for statement in parse_script(self._statements):
            outcome = self._session.execute(statement)
            match outcome:
                case Started():
                    self._start(outcome)
                case Inserted():
                    for record in inserted_records(outcome):
                        self._take(record)
                case Expected():
                    yield from self._wrong(outcome)
                case _:
                    pass

    def _start(self, query: Started) -> None:
        driver = TestDriver(query.plan)
        before = self._running.get(query.writes.name)
        if before is not None:
            try:
                driver.restore(before[1].snapshot())
            except (PenstockError, KeyError):
                driver = TestDriver(query.plan)
        self._running[query.writes.name] = (query, driver)

    def _take(self, record: Sent) -> None:
        self._topics.setdefault(record.topic, []).append(record)
        for query, driver in self._running.values():
            if record.topic in {source.topic for source in query.reads}:
                for made in pushed(driver, record, query.writes):
                    self._take(made)

    def _wrong(self, wanted: Expected) -> Iterator[str]:
        topic = wanted.source.topic
        place = self._asserted.get(topic, 0)
        self._asserted[topic] = place + 1
        records = self._topics.get(topic, [])
        if place >= len(records):
            yield f"{topic} has no record {place}"
            return
        found = _row(records[place], wanted)
        said = {name: constant(typed.expr) for name, typed in wanted.row.items()}
        differs = [name for name, value in said.items() if found.get(name) != value]
        if differs or found[GONE] != wanted.tombstone:
            yield f"record {place} of {topic} is {found}, not {said}"


def _row(record: Sent, wanted: Expected) -> dict[str, Any]:
    given: dict[str, Any] = {
        "_key": record.key,
        "value": record.value,
        "_timestamp": record.timestamp,
        "_headers": [],
        "_partition": 0,
        "_offset": 0,
    }
    row = next(Opening(wanted.source)(given))
    return {**row, ROW_TIME: record.timestamp}
