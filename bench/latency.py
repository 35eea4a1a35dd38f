"""From an event to its result in the hand of who reads it, at three rates, for three programs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

import penstock as ps
from bench.child import SPAWN
from bench.measure import cost_of_tree, percentile
from bench.result import Measure, Result
from bench.scale import Scale
from penstock.front.dsl.stream import Stream
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from penstock.log.topic import TopicConfig
from penstock.plan.planner import plan
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

_EVENTS = pa.schema(
    [("user", pa.int64()), ("sent", pa.int64()), ("at", pa.timestamp("ms", tz="UTC"))]
)
_PEOPLE = pa.schema([("user", pa.int64()), ("city", pa.string())])
_USERS = 100
_TICK = 0.01
_PATIENCE = 60.0
_RATES = (100, 1_000, 10_000)
_PHASES = (
    ("latestOffset", "finding what is new"),
    ("walCommit", "writing down what the batch takes"),
    ("queryPlanning", "planning"),
    ("addBatch", "running it and writing results"),
    ("commitOffsets", "writing down that it is done"),
)
_METHOD = (
    "A process appends events every 10 ms at a steady rate (`fsync=os`), Spark runs the program on"
    " this log in micro-batches one after the other, exactly once, and a third process reads the"
    " topic of results as they become visible. The latency of an event runs from before its append"
    " to the first result that it is in, in the reader's hand; the first third of each run is left"
    " out. Stateless: a filter and a computed column. Windowed: a count by user and 10 s, an early"
    " pane with every batch. Joined: each event with the row of its user in a table. The parts of a"
    " batch are those of Spark's own report at 100 events/s, the median of all batches; the floor"
    " is what a batch takes when it has next to nothing to do: an event waits for half a batch and"
    " then one whole, on average."
)
Reaction: TypeAlias = tuple[int, int, int]
"""A user, the time of sending of its latest event in a result, and when that was seen."""


@dataclass(frozen=True, slots=True)
class _Program:
    label: str
    build: Callable[[ps.App, Stream], Stream]


class Run(NamedTuple):
    """What one run gave: milliseconds of each event, and of the phases of each batch."""

    waits: list[float]
    phases: list[dict[str, int]]
    cpu_a_batch: float


def _stateless(_: ps.App, events: Stream) -> Stream:
    kept = events.filter(ps.col("user") >= 0)
    return kept.select("user", latest=ps.col("sent"), double=ps.col("sent") * 2)


def _windowed(_: ps.App, events: Stream) -> Stream:
    grouped = events.group_by("user").window(ps.tumbling("10s"))
    early = grouped.trigger(ps.when_closed(early=ps.each_batch())).refine(ps.accumulating())
    return early.agg(latest=ps.max("sent"), n=ps.count())


def _joined(app: ps.App, events: Stream) -> Stream:
    people = app.table("people", key="user", schema=_PEOPLE)
    return events.join(people, on="user").select("user", "city", latest=ps.col("sent"))


_PROGRAMS = (
    _Program("stateless", _stateless),
    _Program("windowed, early panes", _windowed),
    _Program("joined to a table", _joined),
)


def run(scale: Scale) -> Result:
    """Measure every program at every rate."""
    length, rounds = scale.of(12, 3), scale.of(3, 1)
    measures: list[Measure] = []
    floor: list[Run] = []
    spark_session()
    try:
        for program in _PROGRAMS:
            for rate in _RATES:
                runs = [_run(scale, program, rate, length) for _ in range(rounds)]
                measures += _percentiles(f"{program.label}, {rate:,} events/s", runs)
                if program.label == "stateless" and rate == _RATES[0]:
                    floor = runs
    finally:
        stop_session()
    return Result(
        name="latency",
        title="From an event to its visible result",
        method=_METHOD,
        scale=scale.name,
        sizes={"seconds a run": length, "rounds": rounds, "users": _USERS, "tick": "10 ms"},
        measures=(*measures, *_parts(floor)),
    )


def waits(sent: Sequence[tuple[int, int]], reactions: Sequence[Reaction]) -> list[float]:
    """Give the milliseconds that each event, a user and when it was sent, waited for a result."""
    waiting: dict[int, list[int]] = defaultdict(list)
    for user, at in reversed(sent):
        waiting[user].append(at)
    found: list[tuple[int, float]] = []
    for user, latest, seen in reactions:
        left = waiting[user]
        while left and left[-1] <= latest:
            at = left.pop()
            found.append((at, (seen - at) / 1e6))
    return [wait for _, wait in sorted(found)]


def _percentiles(label: str, runs: Sequence[Run]) -> Iterator[Measure]:
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        found = tuple(percentile(taken.waits, share) for taken in runs)
        yield Measure(label=f"{name}, {label}", unit="ms", ours=found, lower_is_better=True)


def _parts(runs: Sequence[Run]) -> Iterator[Measure]:
    whole = tuple(_middle(taken, "triggerExecution") for taken in runs)
    yield Measure(label="a batch, in all", unit="ms", ours=whole, lower_is_better=True)
    for name, label in _PHASES:
        found = tuple(_middle(taken, name) for taken in runs)
        yield Measure(label=f"of it {label}", unit="ms", ours=found, lower_is_better=True)
    cpu = tuple(1000 * taken.cpu_a_batch for taken in runs)
    yield Measure(label="a batch, all processors", unit="CPU-ms", ours=cpu, lower_is_better=True)


def _middle(taken: Run, phase: str) -> float:
    return float(median(found.get(phase, 0) for found in taken.phases))


def _run(scale: Scale, program: _Program, rate: int, length: int) -> Run:
    with scale.home() as home:
        _create_topics(home)
        app = ps.App("latency")
        events = app.stream("events", schema=_EVENTS, event_time="at", lateness="1s")
        program.build(app, events).to("out")
        physical = plan(app.plan())
        query = start(physical, home=home, checkpoint=home / "job")
        try:
            reactions: list[Reaction] = []
            cost = cost_of_tree(lambda: reactions.extend(_fed(home, rate, length)))
        finally:
            query.stop()
        batches = [item for item in query.spark.recentProgress if item["numInputRows"]]
        found = waits(_sent(home), reactions)
        settled = found[len(found) // 3 :]
        return Run(
            settled,
            [item["durationMs"] for item in batches[len(batches) // 3 :]],
            # Spark remembers the last hundred only; their numbers say how many there were.
            cost.cpu / (1 + max((item["batchId"] for item in batches), default=0)),
        )


def _fed(home: Path, rate: int, length: int) -> list[Reaction]:
    near, far = SPAWN.Pipe()
    listener = SPAWN.Process(target=_listen, args=(far, home, rate * length), daemon=True)
    listener.start()
    far.close()
    near.recv()
    feeder = SPAWN.Process(target=_feed, args=(home, rate, length), daemon=True)
    feeder.start()
    reactions: list[Reaction] = near.recv()
    feeder.join()
    listener.join()
    return reactions


def _create_topics(home: Path) -> None:
    config = TopicConfig(fsync="os")
    with open_log(home) as log:
        log.create_topic("events", schema=_EVENTS, config=config)
        log.create_topic("people", schema=_PEOPLE, config=config)
        users = list(range(_USERS))
        keys = [str(user).encode() for user in users]
        cities = [f"city {user % 7}" for user in users]
        log.append("people", 0, pa.table({"_key": keys, "user": users, "city": cities}))


def _feed(home: Path, rate: int, length: int) -> None:
    """Append the events of each tick, as far apart as the rate says."""
    each = max(1, round(rate * _TICK))
    with open_log(home) as log:
        began = time.monotonic()
        for number in range(rate * length // each):
            pause = began + number * each / rate - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            log.append("events", 0, _rows(number * each, each))


def _rows(first: int, count: int) -> pa.Table:
    users = np.arange(first, first + count, dtype=np.int64) % _USERS
    # Times of sending tell events apart.
    sent = time.monotonic_ns() + np.arange(count, dtype=np.int64)
    at = np.full(count, time.time_ns() // 1_000_000, np.int64)
    columns = [pa.array(users), pa.array(sent), pa.array(at).cast(_EVENTS.field("at").type)]
    return pa.Table.from_arrays(columns, schema=_EVENTS)


def _listen(far: Connection, home: Path, events: int) -> None:
    """Read results as they come, and note when, until the last event is in one."""
    reactions: list[Reaction] = []
    latest: dict[int, int] = {}
    far.send("ready")
    with open_log(home) as log:
        while "out" not in log.topics():
            time.sleep(_TICK)
        places = [TopicPartition("out", number) for number in range(log.topic("out").partitions)]
        offsets = dict.fromkeys(places, 0)
        while not _all_seen(log.bounds("events", 0).end, events, latest, home):
            if not log.wait(offsets, _PATIENCE):
                break
            for place in places:
                chunk = log.read(*place, offsets[place], ReadLimit(columns=("user", "latest")))
                now = time.monotonic_ns()
                offsets[place] = chunk.next_offset
                rows = (chunk.rows[name].to_pylist() for name in ("user", "latest"))
                for user, sent in zip(*rows, strict=True):
                    reactions.append((user, sent, now))
                    latest[user] = max(sent, latest.get(user, 0))
    far.send(reactions)


def _all_seen(end: int, events: int, latest: dict[int, int], home: Path) -> bool:
    """Whether the last event of every user is in a result."""
    if end < events or len(latest) < min(_USERS, events):
        return False
    return dict(_sent(home)[-_USERS:]).items() <= latest.items()


def _sent(home: Path) -> list[tuple[int, int]]:
    with open_log(home) as log:
        offset, found = 0, list[tuple[int, int]]()
        while offset < log.bounds("events", 0).end:
            chunk = log.read("events", 0, offset, ReadLimit(columns=("user", "sent")))
            offset = chunk.next_offset
            rows = (chunk.rows[name].to_pylist() for name in ("user", "sent"))
            found += zip(*rows, strict=True)
    return found
