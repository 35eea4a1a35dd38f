"""A program as columns of Spark's own: JSON in, its steps, JSON out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from functools import reduce

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # as Spark's own documentation has it

from penstock.model.aggregate import WINDOW_END, WINDOW_START, Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Measure, measure_type
from penstock.model.physical import Keyed, Scan
from penstock.model.plan import Sink
from penstock.model.refine import FOREVER
from penstock.model.stateless import Filter, Project, Stateless
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Hopping, Tumbling
from penstock.plan.realtime import Direct
from penstock.schema.schema import Schema
from penstock.schema.types import FLOAT64, Kind
from penstock.spark.expression import lower, type_name

_VALUE = "_value"
_CORRUPT = "_corrupt"
# When a row happened goes with it, whatever columns a step leaves.
_TIME = "_time"
_TIMES = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "dateFormat": "yyyy-MM-dd"}


def frame_of(session: SparkSession, program: Direct, options: dict[str, str]) -> DataFrame:
    """Give the stream of records that a program writes: their keys and values."""
    read = _read(session, program.scan, options)
    stream = program.scan.stream
    rows = reduce(_stepped, program.before, read)
    keyed = program.keyed
    if keyed is not None:
        if isinstance(keyed.relation, Aggregate):
            disorder = stream.watermark
            delay = disorder.delay if isinstance(disorder, BoundedDisorder) else timedelta(0)
            rows = _aggregated(rows, keyed, keyed.relation, delay)
        elif isinstance(keyed.relation, Dedup):
            rows = rows.dropDuplicates(list(keyed.relation.keys))
        rows = reduce(_stepped, program.after, rows)
    return _records(rows, program.output.sink)


def _read(session: SparkSession, scan: Scan, options: dict[str, str]) -> DataFrame:
    stream = scan.stream
    start = "latest" if stream.start.place == "latest" else "earliest"
    records = (
        session.readStream.format("kafka")
        .options(**options)
        .option("subscribe", stream.topic)
        .option("startingOffsets", start)
        .load()
    )
    mode = "FAILFAST" if stream.on_error == "fail" else "PERMISSIVE"
    words = {**_TIMES, "mode": mode, "columnNameOfCorruptRecord": _CORRUPT}
    names = dict.fromkeys((*scan.columns, *([stream.event_time] if stream.event_time else [])))
    value = F.from_json(F.col("value").cast("string"), _fields(stream.columns, [*names]), words)
    opened = records.select(value.alias(_VALUE), F.col("timestamp"))
    # A value that cannot be read is left out: there are no dead letters here.
    kept = opened.where(F.col(f"{_VALUE}.{_CORRUPT}").isNull() & F.col(_VALUE).isNotNull())
    columns = [_field(stream.columns, name) for name in scan.columns]
    time = _field(stream.columns, stream.event_time) if stream.event_time else F.col("timestamp")
    return kept.select(*columns, time.alias(_TIME))


def _fields(schema: Schema, names: Sequence[str]) -> str:
    kinds = {name: schema.field(name).type for name in names}
    # A time is a text or a number of milliseconds: both are read as texts, and told apart then.
    texts = {
        name: "string" if type_.kind is Kind.TIMESTAMP else type_name(type_)
        for name, type_ in kinds.items()
    }
    return ", ".join(f"`{name}` {kind}" for name, kind in {**texts, _CORRUPT: "string"}.items())


def _field(schema: Schema, name: str) -> SparkColumn:
    found = F.col(f"{_VALUE}.`{name}`")
    if schema.field(name).type.kind is not Kind.TIMESTAMP:
        return found.alias(name)
    millis = F.timestamp_millis(found.try_cast("bigint"))
    return F.coalesce(millis, found.try_cast("timestamp")).alias(name)


def _stepped(rows: DataFrame, step: Stateless) -> DataFrame:
    match step:
        case Filter(source, condition):
            return rows.where(lower(condition, source.schema))
        case Project(source, columns):
            found = [lower(column.expr, source.schema).alias(column.name) for column in columns]
            return rows.select(*found, *([F.col(_TIME)] if _TIME in rows.columns else []))
        case _:
            # A key decides the partition of a record, which is the sink's business.
            return rows


def _aggregated(rows: DataFrame, keyed: Keyed, found: Aggregate, delay: timedelta) -> DataFrame:
    known = found.source.schema
    keys = [F.col(f"`{key}`") for key in found.keys]
    measures = [_measured(measure, known) for measure in found.measures]
    window = found.window
    if window is None:
        return rows.groupBy(*keys).agg(*measures)
    assert isinstance(window, Tumbling | Hopping)
    if keyed.keep_late != FOREVER:
        rows = rows.withWatermark(_TIME, _text(delay + keyed.keep_late))
    slide = window.slide if isinstance(window, Hopping) else window.size
    spans = F.window(F.col(_TIME), _text(window.size), _text(slide), _text(window.offset))
    grouped = rows.groupBy(*keys, spans.alias("_window")).agg(*measures)
    bounds = (
        F.col("_window.start").alias(WINDOW_START),
        F.col("_window.end").alias(WINDOW_END),
    )
    names = [F.col(f"`{measure.name}`") for measure in found.measures]
    return grouped.select(*keys, *bounds, *names)


def _measured(measure: Measure, known: Schema) -> SparkColumn:
    arguments = [lower(argument, known) for argument in measure.arguments]
    gives = type_name(measure_type(measure, known))
    match measure.function:
        case "count":
            found = F.count(*arguments) if arguments else F.count(F.lit(1))
        case "variance":
            found = F.var_samp(arguments[0].cast(type_name(FLOAT64)))
        case "stddev":
            found = F.stddev_samp(arguments[0].cast(type_name(FLOAT64)))
        case _:
            found = getattr(F, measure.function)(*arguments)
    return found.cast(gives).alias(measure.name)


def _records(rows: DataFrame, sink: Sink) -> DataFrame:
    columns = [F.col(f"`{name}`") for name in sink.relation.schema.names]
    value = F.to_json(F.struct(*columns), {**_TIMES, "ignoreNullFields": "false"})
    keys = [F.col(f"`{name}`") for name in sink.keys]
    if not keys:
        return rows.select(value.alias("value"))
    key = keys[0].cast("string") if len(keys) == 1 else F.to_json(F.struct(*keys), _TIMES)
    return rows.select(key.alias("key"), value.alias("value"))


def _text(span: timedelta) -> str:
    return f"{span // timedelta(milliseconds=1)} milliseconds"


def positions(offset: str | None) -> dict[tuple[str, int], int]:
    """Read offsets as Spark's connector tells them."""
    topics = json.loads(offset) if offset else {}
    return {
        (topic, int(number)): int(at)
        for topic, told in topics.items()
        for number, at in told.items()
    }
