"""An event at a time against micro-batches: how soon there is a reaction, and how much goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import TypeAlias

import pyarrow as pa

import penstock as ps
from bench.child import SPAWN
from bench.measure import percentile, seconds
from bench.result import Measure, Result
from bench.scale import Scale
from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.topic import TopicConfig
from penstock.model.physical import Physical
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

_EVENTS = pa.schema([("user", pa.string()), ("amount", pa.float64()), ("sent", pa.int64())])
_RESULTS = pa.schema([("user", pa.string()), ("total", pa.float64()), ("n", pa.int64())])
_USERS = 100
_PATIENCE = 120.0
_WARM_UPS = 5
_SHARED_RATE = 50
_SPARK_RATE = 1000
_Reaction: TypeAlias = tuple[str, int, int]
"""A user, how many of its events are counted, and when that was seen."""
_METHOD = (
    "One program, a running sum and count by user, on the same topic and"
    " the same log (`fsync=os`), by turns: an event at a time in one process (`penstock.inline`),"
    " which makes each result visible at once, and micro-batches on Spark, whose results are seen"
    " exactly once. A process of its own appends events at a steady rate, a third reads results and"
    " reacts. The decision latency of an event runs from before its append to the first result that"
    " counts it in the hand of who reacts. Throughput is that of a backlog, start-up left out. A"
    " batch run once in a period P decides P / 2 + its run time after an event, on average: the run"
    " time over the backlog is given for that."
)


@dataclass(frozen=True, slots=True)
class _Mode:
    """A way to run the program: over a backlog, and live."""

    label: str
    drain: Callable[[Path, str], float]
    live: Callable[[Path, str], AbstractContextManager[None]]


def program() -> Physical:
    """Give the program that both modes run."""
    app = ps.App("modes")
    events = app.stream("events", schema=_EVENTS)
    events.group_by("user").agg(total=ps.sum("amount"), n=ps.count()).to("out")
    return app.physical()


def run(scale: Scale) -> Result:
    """Measure both modes at one rate, micro-batches at a higher one, and both over a backlog."""
    events, backlog = scale.of(1500, 100), scale.of(200_000, 2_000)
    rounds = scale.of(3, 1)
    spark_session()
    try:
        shared = _Rounds.taken(scale, rounds, events, _SHARED_RATE)
        fast = [_latencies(scale, _BATCHES, events, _SPARK_RATE) for _ in range(rounds)]
        alone = [_drained(scale, _EVENT, min(backlog, 5_000)) for _ in range(rounds)]
        batched = [_drained(scale, _BATCHES, backlog) for _ in range(rounds)]
    finally:
        stop_session()
    return Result(
        name="modes",
        title="An event at a time against micro-batches",
        method=_METHOD,
        baseline="micro-batches on Spark",
        scale=scale.name,
        sizes={"events": events, "users": _USERS, "backlog": backlog, "rounds": rounds},
        measures=(
            *shared.measures(),
            *_percentiles("decision latency of micro-batches, 1,000 events/s", fast),
            Measure(
                label="throughput over a backlog, an event at a time against micro-batches",
                unit="events/s",
                ours=tuple(rate for rate, _ in alone),
                baseline=tuple(rate for rate, _ in batched),
            ),
            Measure(
                label="run time of one batch over the backlog",
                unit="s",
                ours=tuple(taken for _, taken in batched),
                lower_is_better=True,
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Latencies of both modes at one rate, round by round."""

    rate: int
    ours: list[list[float]]
    baseline: list[list[float]]

    @classmethod
    def taken(cls, scale: Scale, rounds: int, events: int, rate: int) -> _Rounds:
        """Let both modes run by turns."""
        pairs = [
            (_latencies(scale, _EVENT, events, rate), _latencies(scale, _BATCHES, events, rate))
            for _ in range(rounds)
        ]
        return cls(rate, [one for one, _ in pairs], [other for _, other in pairs])

    def measures(self) -> Iterator[Measure]:
        """Give p50 and p99 of both."""
        for name, share in (("p50", 0.50), ("p99", 0.99)):
            yield Measure(
                label=f"{name} decision latency, {self.rate} events/s, an event at a time",
                unit="ms",
                ours=tuple(percentile(found, share) for found in self.ours),
                baseline=tuple(percentile(found, share) for found in self.baseline),
                lower_is_better=True,
            )


def _percentiles(label: str, rounds: list[list[float]]) -> Iterator[Measure]:
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        yield Measure(
            label=f"{name} {label}",
            unit="ms",
            ours=tuple(percentile(found, share) for found in rounds),
            lower_is_better=True,
        )


def _latencies(scale: Scale, mode: _Mode, events: int, rate: int) -> list[float]:
    """Give the milliseconds from each event to the reaction to it."""
    # The first events find code unloaded and no worker started.
    parts = [*([10] * _WARM_UPS), events]
    with scale.home() as home:
        _create_topics(home)
        near, far = SPAWN.Pipe()
        listener = SPAWN.Process(target=_react, args=(far, home, parts), daemon=True)
        listener.start()
        far.close()
        with mode.live(home, "live"):
            for part in parts:
                near.recv()
                feeder = SPAWN.Process(target=_feed, args=(home, part, rate), daemon=True)
                feeder.start()
                feeder.join()
            reactions: list[_Reaction] = near.recv()
        listener.join()
        return _waited(home, reactions)[-events:]


def _waited(home: Path, reactions: list[_Reaction]) -> list[float]:
    """Give how long each event waited for the first result that counts it."""
    sent: dict[str, list[int]] = {}
    latencies: dict[int, float] = {}
    with open_log(home) as log:
        rows = log.read("events", 0, 0, ReadLimit()).rows.select(["user", "sent"])
    for user, at in zip(
        rows.column("user").to_pylist(), rows.column("sent").to_pylist(), strict=True
    ):
        sent.setdefault(user, []).append(at)
    counted = dict.fromkeys(sent, 0)
    for user, n, now in reactions:
        for at in sent[user][counted[user] : n]:
            latencies[at] = (now - at) / 1e6
        counted[user] = max(counted[user], n)
    return [latencies[at] for at in sorted(latencies)]


def _drained(scale: Scale, mode: _Mode, backlog: int) -> tuple[float, float]:
    """Give the events a second over a backlog, and the seconds it took."""
    with scale.home() as home:
        _create_topics(home)
        with open_log(home) as log:
            log.append("events", 0, _event_rows(0, backlog))
        taken = mode.drain(home, "backlog")
    return backlog / taken, taken


def _create_topics(home: Path) -> None:
    config = TopicConfig(fsync="os")
    with open_log(home) as log:
        log.create_topic("events", schema=_EVENTS, config=config)
        log.create_topic("out", schema=_RESULTS, config=config)


def _event_rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    now = time.monotonic_ns()
    columns = [[f"user-{n % _USERS}" for n in numbers], [1.0] * count, [now] * count]
    arrays = [pa.array(found, field.type) for found, field in zip(columns, _EVENTS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_EVENTS)


def _feed(home: Path, events: int, rate: int) -> None:
    """Append events one by one, as far apart as the rate says."""
    with open_log(home) as log:
        began = time.monotonic()
        for number in range(events):
            pause = began + number / rate - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            log.append("events", 0, _event_rows(number, 1))


def _react(far: Connection, home: Path, parts: list[int]) -> None:
    """Read results as they come, and note when; say so when a part of the events is counted."""
    reactions: list[_Reaction] = []
    counted: dict[str, int] = {}
    with open_log(home) as log:
        place, offset, expected = TopicPartition("out", 0), 0, 0
        for part in parts:
            far.send("ready")
            expected += part
            while sum(counted.values()) < expected and log.wait({place: offset}, _PATIENCE):
                chunk = log.read(*place, offset, ReadLimit(columns=("user", "n")))
                now = time.monotonic_ns()
                offset = chunk.next_offset
                for row in chunk.rows.to_pylist():
                    reactions.append((row["user"], row["n"], now))
                    counted[row["user"]] = row["n"]
    far.send(reactions)


def _inline(home: Path, name: str, options: InlineOptions) -> InlineRun:
    return InlineRun(program(), home=home, checkpoint=home / name, options=options)


def _drain_inline(home: Path, name: str) -> float:
    made = _inline(home, name, InlineOptions(until="end"))
    return seconds(made.run)


@contextmanager
def _live_inline(home: Path, name: str) -> Iterator[None]:
    made = _inline(home, name, InlineOptions())
    thread = Thread(target=made.run)
    thread.start()
    try:
        yield
    finally:
        made.stop()
        thread.join()


def _drain_spark(home: Path, name: str) -> float:
    query = start(program(), home=home, checkpoint=home / name, bounded=True)
    query.await_end()
    taken = [item["durationMs"]["triggerExecution"] for item in query.spark.recentProgress]
    return float(sum(taken)) / 1000


@contextmanager
def _live_spark(home: Path, name: str) -> Iterator[None]:
    query = start(program(), home=home, checkpoint=home / name)
    try:
        yield
    finally:
        query.stop()


_EVENT = _Mode("an event at a time", _drain_inline, _live_inline)
_BATCHES = _Mode("micro-batches", _drain_spark, _live_spark)
