"""From an event to its result, from Kafka to Kafka: real-time mode beside micro-batches."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

import penstock as ps
from bench.broker import broker
from bench.child import SPAWN
from bench.connector import connector_jars
from bench.latency import Reaction, waits
from bench.measure import percentile
from bench.result import Measure, Result
from bench.scale import Scale
from penstock.front.dsl.stream import Stream
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.plan.realtime import direct
from penstock.spark.realtime.frame import frame_of
from penstock.spark.realtime.settings import RealtimeSettings, jar_settings
from penstock.spark.session import spark_session, stop_session

_COLUMNS = {"user": "bigint", "n": "bigint", "sent": "bigint", "at": "timestamp"}
_USERS = 100
_RATES = (100, 1_000)
_TICK = 0.005
_PATIENCE = 60.0
_QUIET = 4.0
_WARM = 6.0
_METHOD = (
    "A process sends events as JSON to a topic of a broker on this machine (Apache Kafka 4.1, one"
    " partition, no batching), a program that Spark runs by its own operators and its own connector"
    " writes results to another topic, and a third process reads them. The latency of an event runs"
    " from before it is sent to the first result that it is in, in the reader's hand; the first"
    " third of each run is left out. Both sides are the same columns of Spark's: ours with"
    ' `latency = "realtime"` and a checkpoint every 5 s, the baseline in micro-batches one after'
    " the other. Both deliver at least once. Stateless: a filter and a computed column. Windowed: a"
    " count by user and 10 s, every change given. Dedup: the first row of each number. The p99 of"
    " real-time mode is the pause between two checkpoints: with one a minute it is rarer."
)


@dataclass(frozen=True, slots=True)
class _Program:
    label: str
    build: Callable[[Stream], Stream]


def _stateless(events: Stream) -> Stream:
    kept = events.filter(ps.col("user") >= 0)
    return kept.select("user", latest=ps.col("sent"), double=ps.col("sent") * 2)


def _windowed(events: Stream) -> Stream:
    grouped = events.group_by("user").window(ps.tumbling("10s"))
    early = grouped.trigger(ps.when_closed(early=ps.each_row()))
    return early.agg(latest=ps.max("sent"), n=ps.count())


def _dedup(events: Stream) -> Stream:
    return events.dedup("n").select("user", latest=ps.col("sent"))


_PROGRAMS = (
    _Program("stateless", _stateless),
    _Program("windowed", _windowed),
    _Program("dedup", _dedup),
)


def run(scale: Scale) -> Result:
    """Measure every program at every rate, in both modes by turns."""
    length, rounds = scale.of(15, 6), scale.of(1, 1)
    measures: list[Measure] = []
    jars, missing = connector_jars()
    if missing:
        raise SystemExit(missing)
    with scale.home() as home, broker(home) as servers:
        spark_session(master="local[4]", settings=jar_settings(RealtimeSettings(jars=jars)))
        try:
            for program in _PROGRAMS:
                for rate in _RATES:
                    label = f"{program.label}, {rate:,} events/s"
                    pairs = [
                        [
                            _run((home, servers), program, (rate, length), mode)
                            for mode in (True, False)
                        ]
                        for _ in range(rounds)
                    ]
                    measures += _percentiles(label, pairs)
        finally:
            stop_session()
    return Result(
        name="realtime",
        title="From an event to its result on Kafka, in real-time mode",
        method=_METHOD,
        scale=scale.name,
        sizes={"seconds a run": length, "rounds": rounds, "users": _USERS, "cores for Spark": 4},
        measures=tuple(measures),
        baseline="the same operators in micro-batches",
    )


def _percentiles(label: str, pairs: list[list[list[float]]]) -> Iterator[Measure]:
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        ours, theirs = (tuple(percentile(pair[side], share) for pair in pairs) for side in range(2))
        yield Measure(
            label=f"{name}, {label}", unit="ms", ours=ours, baseline=theirs, lower_is_better=True
        )


def _run(
    place: tuple[Path, str],
    program: _Program,
    load: tuple[int, int],
    realtime: bool,  # noqa: FBT001
) -> list[float]:
    """Give the milliseconds that each event waited."""
    home, servers = place
    topic = f"events-{time.monotonic_ns()}"
    new = [NewTopic(name, 1, 1) for name in (topic, f"{topic}-out")]
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics(new).values():
        made.result(_PATIENCE)
    app = ps.App("realtime")
    events = app.stream(topic, schema=_COLUMNS, format="json", event_time="at", lateness="1s")
    program.build(events).to(f"{topic}-out")
    physical = plan(app.plan(), Settings(parallelism=1))
    query = _started(physical, servers, home / topic, realtime)
    try:
        sent, reactions = _fed(servers, topic, *load)
    finally:
        query.stop()
    found = waits(sent, reactions)
    return found[len(found) // 3 :]


def _started(physical: Physical, servers: str, checkpoint: Path, realtime: bool) -> Any:  # noqa: ANN401, FBT001
    session = spark_session().newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    options = {"kafka.bootstrap.servers": servers}
    program = direct(physical)
    writer: Any = (
        frame_of(session, program, options)
        .writeStream.format("kafka")
        .options(**options)
        .option("topic", program.output.sink.topic)
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
    )
    return (writer.trigger(realTime="5 seconds") if realtime else writer).start()


def _fed(
    servers: str, topic: str, rate: int, length: int
) -> tuple[list[tuple[int, int]], list[Reaction]]:
    near, far = SPAWN.Pipe()
    listener = SPAWN.Process(target=_listen, args=(far, servers, f"{topic}-out"), daemon=True)
    listener.start()
    far.close()
    feeding, fed = SPAWN.Pipe()
    feeder = SPAWN.Process(target=_feed, args=(fed, servers, topic, rate, length), daemon=True)
    feeder.start()
    near.recv()
    # Results come: the program runs. It is let warm up.
    time.sleep(_WARM)
    feeding.send("go")
    sent: list[tuple[int, int]] = feeding.recv()
    near.send("done")
    reactions: list[Reaction] = near.recv()
    feeder.join()
    listener.join()
    return sent, reactions


def _feed(far: Connection, servers: str, topic: str, rate: int, length: int) -> None:
    """Send an event now and then until it is to begin, and then as many as the rate says."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    number = 0
    while not far.poll(0.05):
        number += 1
        _send(producer, topic, 0, -number)
        producer.poll(0)
    far.recv()
    found: list[tuple[int, int]] = []
    began = time.monotonic()
    while len(found) < rate * length:
        for _ in range(round((time.monotonic() - began) * rate) - len(found)):
            found.append(
                (len(found) % _USERS, _send(producer, topic, len(found) % _USERS, len(found)))
            )
        producer.poll(0)
        time.sleep(_TICK)
    producer.flush(_PATIENCE)
    far.send(found)


def _send(producer: Producer, topic: str, user: int, number: int) -> int:
    """Send an event; those before the beginning have a number below 0, and no time."""
    sent = time.monotonic_ns() if number >= 0 else 0
    event = {"user": user, "n": number, "sent": sent, "at": time.time_ns() // 1_000_000}
    producer.produce(topic, json.dumps(event).encode())
    return sent


def _listen(far: Connection, servers: str, topic: str) -> None:
    """Read results as they come, and note when, until some time after the last event."""
    settings = {"bootstrap.servers": servers, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "fetch.wait.max.ms": 5})
    consumer.subscribe([topic])
    reactions: list[Reaction] = []
    warm, until = False, float("inf")
    while time.monotonic() < until:
        message = consumer.poll(0.1)
        value = None if message is None or message.error() else message.value()
        if value is not None:
            row, now = json.loads(value), time.monotonic_ns()
            if not warm:
                warm = True
                far.send("warm")
            if row["latest"]:
                reactions.append((row["user"], row["latest"], now))
        if far.poll():
            far.recv()
            until = time.monotonic() + _QUIET
    consumer.close()
    far.send(reactions)
