"""`python bench/nexmark/peers/quix.py` in a Python that has Quix Streams: the queries of Nexmark.

It brings a broker of Kafka with it, whose work counts as its own.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path[0] = str(Path(__file__).resolve().parents[3])

import pyarrow as pa  # noqa: E402  # by the place of this project, as the next ones
from quixstreams import Application  # type: ignore[import-not-found]  # noqa: E402

from bench.nexmark.peers.kept_results import keep  # noqa: E402
from bench.nexmark.peers.lines import Outcome, RefusedError, Request, serve  # noqa: E402
from bench.nexmark.peers.quix_broker import Broker, broker  # noqa: E402
from bench.nexmark.peers.quix_queries import QUERIES, REFUSED, Frame, Row  # noqa: E402

_ABOUT = {
    "engine": "quix",
    "version": version("quixstreams"),
    "durability": (
        "at least once: states in RocksDB, their changes in topics of a local Kafka broker 4.1.1"
        " (one node, not synced), commits every 10 s"
    ),
    "durable": False,
    "input": (
        "JSON from Kafka topics of 2 partitions, filled beforehand by the key that a query groups"
        " by (no row has to change its partition for it); one process, one thread"
    ),
    "emission": "changes row by row, windows of q5 4 s after their end",
    "results": "counted and forgotten",
}
_HOT_ITEMS = pa.schema([(name, pa.int64()) for name in ("auction", "num", "starttime", "endtime")])


@dataclass(slots=True)
class _Frames:
    """The topics that a query reads, and how many rows are to come from them."""

    broker: Broker
    events: Path
    app: Any
    due: int = 0
    sent: int = 0
    seen: int = 0
    regrouped: int = 0
    frames: list[Any] = field(default_factory=list)

    def read(self, kind: str, key: str) -> Frame:
        """Give one kind of events, by a key."""
        name = self.broker.topic_of(self.events, kind, key)
        self.due += self.broker.loaded[name]
        topic = self.app.topic(name, value_deserializer="json", key_deserializer="str")
        return self.app.dataframe(topic)

    def regroup(self, frame: Frame, column: str) -> Frame:
        """Give rows by another key: they go through a topic of their own."""

        def count(_row: Row) -> None:
            self.sent += 1

        return frame.update(count).group_by(lambda row: str(row[column]), name=column)

    def processed(self, topic: str, _partition: int, _offset: int) -> None:
        """Stop when all rows went through, also those by another key."""
        if topic.startswith("repartition__"):
            self.regrouped += 1
        else:
            self.seen += 1
        if self.seen == self.due and self.regrouped == self.sent:
            self.app.stop()


def _run(request: Request, broker: Broker) -> Outcome:
    if request.query not in QUERIES:
        raise RefusedError(REFUSED.get(request.query, f"{request.query} is not written for Quix"))
    with tempfile.TemporaryDirectory(prefix="quix-") as folder:
        frames = _Frames(broker, request.events, None)
        frames.app = Application(
            broker_address=broker.address,
            consumer_group=f"{request.query}-{uuid4().hex[:8]}",
            auto_offset_reset="earliest",
            commit_interval=10.0,
            state_dir=folder,
            loglevel="WARNING",
            on_message_processed=frames.processed,
        )
        found = QUERIES[request.query](frames)
        outcome = Outcome()
        kept: list[Row] = []

        def take(row: Row) -> None:
            outcome.saw(1)
            if request.results is not None:
                kept.append(row)

        found.update(take)
        frames.app.run()
        outcome.ended()
    if request.results is not None:
        keep(_last(request.query, kept), request.query, request.results)
    return outcome


def _last(query: str, rows: list[Row]) -> pa.Table:
    """Give the rows that nothing took the place of, where that is not by a key of the answer."""
    if query == "q5":
        most: dict[int, int] = {}
        for row in rows:
            most[row["starttime"]] = max(row["num"], most.get(row["starttime"], 0))
        rows = [row for row in rows if row["num"] == most[row["starttime"]]]
        # Of a few seconds of events no window ends: then there is still a table, without rows.
        return pa.Table.from_pylist(rows, _HOT_ITEMS)
    if query == "q11":
        rows = list({(row["bidder"], row["starttime"]): row for row in rows}.values())
    return pa.Table.from_pylist(rows)


if __name__ == "__main__":
    with broker() as started:
        serve(_ABOUT, lambda request: _run(request, started))
