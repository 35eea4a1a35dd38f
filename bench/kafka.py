"""The same programs on Kafka and on the embedded log, and beside Spark's own connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

import penstock as ps
from bench.broker import broker, home_on_kafka
from bench.connector import connector_jars
from bench.measure import Pairs, alternate
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.stage import Stage
from bench.windowed import EVENTS, event_rows
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.spark.realtime.settings import RealtimeSettings, jar_settings
from penstock.spark.session import spark_session, stop_session

_PARTITIONS = 2
_TYPED = "events"
_BYTES = "records"
_METHOD = (
    "One session, one broker of Apache Kafka 4.1 on this machine, topics of 2 partitions, batches"
    " of so many rows by turns, a new job each run. Programs: sums and counts by user in windows of"
    " 10 s over typed rows, on the embedded log and on Kafka (values as Avro with the id of their"
    " schema); records of 100 bytes read and dropped by a filter, by our reader on confluent-kafka"
    " and by Spark's connector in micro-batches (its sink is `noop`); and the same records from one"
    " topic to another, ours exactly once in transactions, the connector's at least once. CPU-s are"
    " of Spark, its workers and this process; the broker's own are not counted."
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a bench works: a broker, and a stage on each log."""

    servers: str
    kafka: Stage
    embedded: Stage
    numbers: Iterator[int]


def run(scale: Scale) -> Result:
    """Measure each pair by turns."""
    rows, batch = scale.of(1_000_000, 5_000), scale.of(250_000, 2_500)
    jars, missing = connector_jars()
    if missing:
        raise SystemExit(missing)
    with scale.home() as home, broker(home / "broker") as servers:
        spark = spark_session(settings=jar_settings(RealtimeSettings(jars=jars)))
        try:
            on_kafka = home_on_kafka(home / "kafka", servers)
            place = _Place(
                servers,
                Stage(spark, on_kafka, batch),
                Stage(spark, home / "embedded", batch),
                count(),
            )
            for stage in (place.kafka, place.embedded):
                with open_log(stage.home) as log:
                    _fill(log, rows)
            measures = tuple(_measures(place, rows, scale.of(3, 1)))
        finally:
            stop_session()
    return Result(
        name="kafka",
        title="Programs on Kafka: beside the embedded log, and beside Spark's connector",
        method=_METHOD,
        scale=scale.name,
        sizes={"rows": rows, "rows a batch": batch, "partitions": _PARTITIONS},
        measures=measures,
        baseline="the embedded log; Spark's connector",
    )


def _measures(place: _Place, rows: int, pairs: int) -> Iterator[Measure]:
    def measured(
        label: str, ours: Callable[[], float], theirs: Callable[[], float], least: float | None
    ) -> Measure:
        found: Pairs = alternate(ours, theirs, pairs=pairs)
        return Measure(
            label=label,
            unit="rows/CPU-s",
            ours=found.ours,
            baseline=found.baseline,
            target=None if least is None else Target("at least", least),
        )

    yield measured(
        "windowed sums, on Kafka against embedded",
        lambda: rows / place.kafka.ours(_windowed).cpu,
        lambda: rows / place.embedded.ours(_windowed).cpu,
        None,
    )
    yield measured(
        "source: ours against Spark's connector",
        lambda: rows / place.kafka.ours(_dropped).cpu,
        lambda: rows / place.kafka.native(lambda stage: _without_rows(stage, place)).cpu,
        1.0,
    )
    yield measured(
        "topic to topic: ours exactly once against Spark's at least once",
        lambda: rows / place.kafka.ours(_copied).cpu,
        lambda: rows / _connector_copies(place),
        0.7,
    )


def _windowed(app: ps.App, results: str) -> object:
    events = app.stream(_TYPED, schema=EVENTS, event_time="at", lateness="1s")
    windowed = events.group_by("user").window(ps.tumbling("10s"))
    return windowed.agg(total=ps.sum("amount"), n=ps.count()).to(results)


def _dropped(app: ps.App, results: str) -> object:
    records = app.stream(_BYTES, format="bytes").select("value")
    return records.filter(ps.col("value") == b"").to(results, format="bytes")


def _copied(app: ps.App, results: str) -> object:
    return app.stream(_BYTES, format="bytes").select("value").to(results, format="bytes")


def _connector(stage: Stage, place: _Place) -> DataFrame:
    reader: Any = stage.spark.readStream.format("kafka")
    reader = reader.option("kafka.bootstrap.servers", place.servers).option("subscribe", _BYTES)
    reader = reader.option("startingOffsets", "earliest")
    found: DataFrame = reader.option("maxOffsetsPerTrigger", stage.batch).load()
    return found


def _without_rows(stage: Stage, place: _Place) -> DataFrame:
    return _connector(stage, place).where("value = X''")


def _connector_copies(place: _Place) -> float:
    """Give the CPU-seconds that Spark takes from topic to topic."""
    number = next(place.numbers)
    topic = f"copied-{number}"
    with open_log(place.kafka.home) as log:
        log.create_topic(topic, partitions=_PARTITIONS)

    def start(rows: DataFrame, checkpoint: Path) -> Any:  # noqa: ANN401  # PySpark's writers
        writer: Any = rows.select("key", "value").writeStream.format("kafka")
        writer = writer.option("kafka.bootstrap.servers", place.servers).option("topic", topic)
        writer = writer.option("checkpointLocation", str(checkpoint))
        return writer.trigger(availableNow=True).start()

    return place.kafka.native(lambda stage: _connector(stage, place), start=start).cpu


def _fill(log: Log, rows: int) -> None:
    log.create_topic(_TYPED, partitions=_PARTITIONS, schema=EVENTS)
    log.create_topic(_BYTES, partitions=_PARTITIONS)
    share = rows // _PARTITIONS
    for partition in range(_PARTITIONS):
        log.append(_TYPED, partition, event_rows(share, partition))
        first = partition * share
        values = [b"%099d" % number for number in range(first, first + share)]
        log.append(_BYTES, partition, pa.table({"value": pa.array(values, pa.binary())}))
