"""What a guarantee costs: the same program over the same rows, with what a crash may do to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import penstock as ps
from bench.measure import alternate, cost_of_tree, seconds
from bench.result import Measure, Result
from bench.scale import Scale
from bench.stage import batch_seconds
from penstock.log.open import open_log
from penstock.model.job_settings import Guarantee, JobSettings
from penstock.model.physical import Physical
from penstock.spark.admission import BatchLimits
from penstock.spark.delivery import Delivery
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

_EVENTS = pa.schema(
    [("user", pa.string()), ("amount", pa.float64()), ("at", pa.timestamp("ms", tz="UTC"))]
)
_PARTITIONS = 2
_TOPICS = ("one", "other")
_USERS = 1000
_ROWS_A_SECOND = 100
_BASELINE = "exactly-once"
_WAYS: Mapping[str, JobSettings] = {
    _BASELINE: JobSettings(),
    "at-least-once": JobSettings(guarantee="at-least-once"),
    "at-most-once": JobSettings(guarantee="at-most-once"),
    "exactly-once, no checkpoint": JobSettings(recovery="upstream"),
}
_METHOD = (
    "One session and one topic of 2 partitions. A program passes every event on and counts by user"
    " in windows of a minute, in batches of a few rows, so that the end of a batch weighs most."
    " Results go to topics with `fsync=always`. The ways take turns, each with a new checkpoint."
    " Events/CPU-s are by all processors of the process tree, start-up included; the time of a"
    " batch is the median after the first. What the end of a batch takes by itself is measured"
    " without Spark: 150 rows for each of 2 partitions of 2 topics become visible."
)


class _Taken(NamedTuple):
    rate: float
    """Events a second of all processors."""
    batch: float
    """Milliseconds that a batch takes."""


@dataclass(frozen=True, slots=True)
class _Bench:
    spark: SparkSession
    home: Path
    rows: int
    batch: int

    def take(self, number: int, how: JobSettings) -> _Taken:
        """Run the program in one way over all rows."""
        times: list[float] = []

        def work() -> None:
            query = start(
                program(number),
                home=self.home,
                checkpoint=self.home / f"checkpoint-{number}",
                session=self.spark,
                until="caught up",
                how=how,
                limits=BatchLimits(rows=self.batch),
            )
            query.await_end()
            times.extend(batch_seconds(query.spark))

        cost = cost_of_tree(work)
        return _Taken(self.rows / cost.cpu, 1000 * median(times[1:] or times))


def program(number: int) -> Physical:
    """Give the program, with topics of its own for each run."""
    app = ps.App(f"guarantees-{number}")
    events = app.stream("events", schema=_EVENTS, event_time="at", lateness="1s")
    events.to(f"seen-{number}")
    windows = events.group_by("user").window(ps.tumbling("1m"))
    windows.agg(n=ps.count(), total=ps.sum("amount")).to(f"counts-{number}")
    return app.physical()


def run(scale: Scale) -> Result:
    """Let the ways take turns, after one round that does not count."""
    rows, batch, rounds = scale.of(12_000, 200), scale.of(300, 100), scale.of(5, 1)
    taken: dict[str, list[_Taken]] = {way: [] for way in _WAYS}
    with scale.home() as home:
        _fill(home, rows)
        bench = _Bench(spark_session(), home, rows, batch)
        try:
            number = 0
            for _ in range(rounds + 1):
                for way, how in _WAYS.items():
                    taken[way].append(bench.take(number, how))
                    number += 1
        finally:
            stop_session()
    kept = {way: found[1:] for way, found in taken.items()}
    measures = [delivery(scale)]
    for way in list(_WAYS)[1:]:
        measures += _compared(way, kept[way], kept[_BASELINE])
    return Result(
        name="guarantees",
        title="What a guarantee costs",
        method=_METHOD,
        baseline=f"{_BASELINE}, with a checkpoint",
        scale=scale.name,
        sizes={"rows": rows, "rows a batch": batch, "users": _USERS, "rounds": rounds},
        measures=tuple(measures),
    )


def delivery(scale: Scale) -> Measure:
    """Measure what the end of a batch takes by itself: its rows become visible in two topics."""
    batches = scale.of(200, 5)
    with scale.home() as home, open_log(home) as log:
        for topic in _TOPICS:
            log.create_topic(topic, partitions=_PARTITIONS, schema=_EVENTS)
        rows = _events(150, np.random.default_rng(1))
        appends = {(topic, part): [rows] for topic in _TOPICS for part in range(_PARTITIONS)}
        numbers = count()

        def way(guarantee: Guarantee) -> Callable[[], float]:
            sink = Delivery("bench", guarantee)

            def deliver() -> None:
                for _ in range(batches):
                    sink.deliver(log, appends, next(numbers))

            return lambda: 1000 * seconds(deliver) / batches

        taken = alternate(way("at-least-once"), way("exactly-once"), pairs=scale.pairs)
    return Measure(
        label="making the rows of a batch visible, by appends against a transaction",
        unit="ms",
        ours=taken.ours,
        baseline=taken.baseline,
        lower_is_better=True,
    )


def _compared(way: str, ours: list[_Taken], baseline: list[_Taken]) -> list[Measure]:
    return [
        Measure(
            label=f"throughput, {way}",
            unit="events/CPU-s",
            ours=tuple(found.rate for found in ours),
            baseline=tuple(found.rate for found in baseline),
        ),
        Measure(
            label=f"time of a batch, {way}",
            unit="ms",
            ours=tuple(found.batch for found in ours),
            baseline=tuple(found.batch for found in baseline),
            lower_is_better=True,
        ),
    ]


def _fill(home: Path, rows: int) -> None:
    chance = np.random.default_rng(1)
    with open_log(home) as log:
        log.create_topic("events", partitions=_PARTITIONS, schema=_EVENTS)
        for partition in range(_PARTITIONS):
            log.append("events", partition, _events(rows // _PARTITIONS, chance))


def _events(rows: int, chance: np.random.Generator) -> pa.Table:
    users = chance.integers(0, _USERS, rows)
    times = np.arange(rows) * (1000 * _PARTITIONS // _ROWS_A_SECOND)
    return pa.table(
        {
            "user": [f"u{user}" for user in users],
            "amount": chance.random(rows),
            "at": pa.array(times + 1_700_000_000_000).cast(pa.timestamp("ms", tz="UTC")),
        },
        schema=_EVENTS,
    )
