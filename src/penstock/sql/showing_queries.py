"""SHOW QUERIES, and what DESCRIBE tells of queries and topics: who runs, and how far behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from penstock.front.sql.statement import Started
from penstock.log.port import Log
from penstock.log.record import TIMESTAMP_COLUMN, TopicPartition
from penstock.log.stretch import tables_between
from penstock.spark.job_files import current_files
from penstock.spark.joint.files import group_with
from penstock.spark.progress_file import left_before
from penstock.sql.answer import Cells, Listed
from penstock.sql.definitions import Definitions
from penstock.sql.query_place import checkpoint_of, engine_of, is_taken, reached_of

_ENGINES = {"here": "its process", "spark": "Spark", None: ""}


class Place(NamedTuple):
    """A home, its catalog and its log."""

    home: Path
    definitions: Definitions
    log: Log


class _Lag(NamedTuple):
    at: TopicPartition
    next: int
    end: int


def show_queries(place: Place, *, extended: bool) -> Listed:
    """List the queries that run on; extended, with each partition that they read."""
    if extended:
        columns = ("query", "state", "runs in", "topic", "partition", "next", "end", "lag")
        return Listed(columns, tuple(_extended(place)))
    rows = [
        (
            id_,
            state_of(place, id_),
            query.writes.name,
            ", ".join(read.name for read in query.reads),
            _statement(id_, place.definitions),
        )
        for id_, query in place.definitions.queries.items()
    ]
    return Listed(("query", "state", "writes", "reads", "statement"), tuple(rows))


def state_of(place: Place, id_: str) -> str:
    """Give what a query does: one that is paused may not have ended yet."""
    if id_ in place.definitions.paused:
        return "paused"
    return "running" if is_taken(place.home, id_) else "not running"


def query_words(place: Place, id_: str) -> str:
    """Give what there is to say of a query in a line."""
    behind = sum(it.end - it.next for it in _lags(place, place.definitions.queries[id_]))
    return f"{id_}, {state_of(place, id_)}, {behind} behind"


def statistics(log: Log, topic: str) -> list[Cells]:
    """Give the facts about the records of a topic."""
    bounds = {TopicPartition(*at): it for at, it in log.snapshot([topic]).items()}
    last = max((_time(log, at, it.end) for at, it in bounds.items() if it.end), default=None)
    when = None if last is None else datetime.fromtimestamp(last / 1000, UTC).isoformat()
    return [
        ("offsets", sum(it.end - it.start for it in bounds.values())),
        *(
            (f"partition {at.partition}", f"offsets {it.start} to {it.end}")
            for at, it in sorted(bounds.items())
        ),
        ("last record", when),
    ]


def _time(log: Log, at: TopicPartition, end: int) -> int:
    """Give the time of the last record before an offset; 0 where there is none."""
    start = max(end - 8, log.bounds(at.topic, at.partition).start)
    found = 0
    for table in tables_between(log, at, start, end, (TIMESTAMP_COLUMN,)):
        times = table.column(TIMESTAMP_COLUMN).to_pylist()
        found = int(times[-1]) if times else found
    return found


def _extended(place: Place) -> list[Cells]:
    rows: list[Cells] = []
    for id_, query in place.definitions.queries.items():
        runs = state_of(place, id_), _ENGINES[engine_of(place.home, id_)]
        rows += [
            (id_, *runs, it.at.topic, it.at.partition, it.next, it.end, it.end - it.next)
            for it in _lags(place, query)
        ]
    return rows


def _lags(place: Place, query: Started) -> list[_Lag]:
    known = set(place.log.topics())
    topics = sorted({source.topic for source in query.reads} & known)
    reached = _reached(place.home, query.id)
    return [
        _Lag(at, max(reached.get(at, bound.start), bound.start), bound.end)
        for at, bound in (
            (TopicPartition(*at), bound) for at, bound in place.log.snapshot(topics).items()
        )
    ]


def _reached(home: Path, id_: str) -> Mapping[TopicPartition, int]:
    if engine_of(home, id_) != "spark":
        return reached_of(home, id_)
    group = group_with(home, id_)
    checkpoint = checkpoint_of(home, id_) if group is None else group.checkpoint(home)
    left = left_before(current_files(checkpoint))
    return {} if left is None else left.at.positions


def _statement(id_: str, definitions: Definitions) -> str:
    found = [entry for entry in definitions.entries if id_ in {entry.query, entry.name}]
    # On one line, as a cell of a table is.
    return found[0].statements[-1].replace("\n", " ") if found else ""
