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
import pyarrow.parquet as pq  # noqa: E402
from quixstreams import Application  # type: ignore[import-not-found]  # noqa: E402
from quixstreams.models import TopicConfig  # type: ignore[import-not-found]  # noqa: E402

from bench.nexmark.peers.kept_results import keep  # noqa: E402
from bench.nexmark.peers.lines import Outcome, RefusedError, Request, serve  # noqa: E402
from bench.nexmark.peers.quix_broker import PARTITIONS, Broker, broker  # noqa: E402
from bench.nexmark.peers.quix_frames import Frame, Row  # noqa: E402
from bench.nexmark.peers.quix_queries import QUERIES  # noqa: E402

_ABOUT = {
    "engine": "quix",
    "version": version("quixstreams"),
    "durability": (
        "at least once: states in RocksDB, their changes in topics of a local Kafka broker 4.1.1"
        " (one node, not synced), commits every 10 s"
    ),
    "durable": True,
    "input": (
        "JSON from Kafka topics of 2 partitions, filled beforehand by the key that a query groups"
        " by (no row has to change its partition for it); one process, one thread"
    ),
    "emission": "changes row by row, windows of q5 and q7 4 s after their end",
    "results": "JSON in a topic of 2 partitions of the same broker, by `to_topic`: at least once",
}
_NUMBERS = {
    "q5": ("auction", "num", "starttime", "endtime"),
    "q7": ("auction", "bidder", "price", "date_time"),
}
"""The columns of windows: of a few seconds of events none ends, and a table has no rows."""


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

    def side(self) -> dict[int, str]:
        """Give the table at rest."""
        rows = pq.read_table(self.events / "side")
        return dict(zip(rows["key"].to_pylist(), rows["value"].to_pylist(), strict=True))

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
        message = f"{request.query} is not written for Quix Streams"
        raise RefusedError(message)
    name = f"{request.query}-{uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory(prefix="quix-") as folder:
        frames = _Frames(broker, request.events, None)
        frames.app = Application(
            broker_address=broker.address,
            consumer_group=name,
            auto_offset_reset="earliest",
            commit_interval=10.0,
            # It waits for so long, or for 10,000 rows, where one of several topics has none yet.
            consumer_poll_timeout=0.1,
            state_dir=folder,
            loglevel="WARNING",
            on_message_processed=frames.processed,
        )
        found = QUERIES[request.query](frames)
        outcome = Outcome()
        topic = frames.app.topic(
            f"results-{name}", key_serializer="str", config=TopicConfig(PARTITIONS, 1)
        )
        found.to_topic(topic).update(lambda _row: outcome.saw(1))
        frames.app.run()
        outcome.ended()
    if request.results is not None:
        rows = broker.rows_of(topic.name)
        keep(_last(request.query, rows), request.query, request.results)
    broker.clear()
    return outcome


def _last(query: str, rows: list[Row]) -> pa.Table:
    """Give the rows that nothing took the place of, where that is not by a key of the answer."""
    if query == "q5":
        most: dict[int, int] = {}
        for row in rows:
            most[row["starttime"]] = max(row["num"], most.get(row["starttime"], 0))
        rows = [row for row in rows if row["num"] == most[row["starttime"]]]
    if query in {"q11", "q12"}:
        rows = list({(row["bidder"], row["starttime"]): row for row in rows}.values())
    if not rows and query in _NUMBERS:
        columns = {name: pa.array([], pa.int64()) for name in _NUMBERS[query]}
        return pa.table({**columns, "extra": pa.array([], pa.string())})
    return pa.Table.from_pylist(rows)


if __name__ == "__main__":
    with broker() as started:
        serve(_ABOUT, lambda request: _run(request, started))
