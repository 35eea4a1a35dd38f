"""Scripts that assert what they wrote: every record goes through all queries at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.front.sql.assertion import Expected
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.insert import Inserted
from penstock.front.sql.parse import parse_script
from penstock.front.sql.rows import GONE, Opening
from penstock.front.sql.source import ROW_TIME
from penstock.front.sql.statement import Session, Started
from penstock.front.sql.tree_statement import RunScript
from penstock.sql.script import script_text
from tests.conformance.ksql_case import Tree
from tests.conformance.ksql_codec import Sent
from tests.conformance.ksql_driver import constant, inserted_records
from tests.conformance.ksql_feed import Feed


def run_script(tree: Tree, opened: Callable[[Started], Feed]) -> str:
    """Run a script; give what it asserts and is not so."""
    script = _Script(tree, opened)
    try:
        return "; ".join(script.run())
    finally:
        script.close()


class _Script:
    def __init__(self, tree: Tree, opened: Callable[[Started], Feed]) -> None:
        self._opened = opened
        self._statements = "\n".join(tree["statements"])
        self._session = Session(Catalog())
        self._running: dict[str, tuple[Started, Feed]] = {}
        self._topics: dict[str, list[Sent]] = {}
        self._asserted: dict[str, int] = {}

    def run(self) -> Iterator[str]:
        yield from self._run(self._statements)

    def _run(self, text: str) -> Iterator[str]:
        for statement in parse_script(text):
            if isinstance(statement, RunScript):
                # Only where the file that a case names is there.
                yield from self._run(script_text(statement.path))
                continue
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

    def close(self) -> None:
        """End its queries."""
        for _, feed in self._running.values():
            feed.close()

    def _start(self, query: Started) -> None:
        before = self._running.get(query.writes.name)
        if before is None:
            feed = self._opened(query)
        else:
            feed = before[1]
            feed.replace(query)
        self._running[query.writes.name] = (query, feed)

    def _take(self, record: Sent) -> None:
        self._topics.setdefault(record.topic, []).append(record)
        for query, feed in self._running.values():
            if record.topic in {source.topic for source in query.reads}:
                for made in feed.push(record):
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
    row = Opening(wanted.source).row(given)
    return {**row, ROW_TIME: record.timestamp}
