"""Runs a physical plan as one Spark query: a source, a stateful stage a level, a sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit, nullif

from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.admission import BatchLimits
from penstock.spark.cores import available_cores
from penstock.spark.file_clock import FileClock
from penstock.spark.identity import identify
from penstock.spark.job_files import JobFiles
from penstock.spark.level import STATE_DDL, Level
from penstock.spark.output import ensure_topics
from penstock.spark.program_format import PACKETS_DDL, ProgramFormat
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_progress import program_progress
from penstock.spark.program_sink import ProgramSink
from penstock.spark.progress_file import Left
from penstock.spark.query import ProgramQuery, processes
from penstock.spark.savepoint_files import START
from penstock.spark.session import spark_session

DEFAULT_LIMITS = BatchLimits(rows=4_000_000)
"""A history comes in pieces that fit into memory."""

_SOURCE_NAME = "inputs"
_SETTINGS: Mapping[str, str] = {
    # Spark refuses several stateful operators of ours in a row; they need no watermark of Spark.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    # Cannot be switched on later: sources keep their offsets by name when a program changes.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # Our offsets say when a batch without rows is due.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


def start(  # noqa: PLR0913  # all but the program are by name
    physical: Physical,
    *,
    home: str | Path,
    checkpoint: str | Path,
    session: SparkSession | None = None,
    bounded: bool = False,
    clock: FileClock | None = None,
    limits: BatchLimits = DEFAULT_LIMITS,
    on_progress: Callable[[Progress], None] | None = None,
    format_: type[ProgramFormat] = ProgramFormat,
) -> ProgramQuery:
    """Start a program, or continue it where its checkpoint is.

    A `bounded` one takes what its topics hold now, closes every window and ends.
    """
    files = JobFiles(Path(checkpoint).absolute())
    identity = identify(files, physical)
    kept = identity.applied(physical)
    log = format_.log_of(str(home))
    ensure_topics(log, kept)
    options = ProgramOptions(
        home=str(home),
        program=str(files.keep_program(kept)),
        checkpoint=str(files.checkpoint),
        job=identity.job,
        clock="" if clock is None else str(clock.path),
        limits=limits,
        tasks=available_cores(),
        bounded=bounded,
    )
    own = (session or spark_session()).newSession()
    sink = ProgramSink(kept, options, format_.log_of, _notifier(kept, on_progress))
    return _started(own, sink, format_)


def _started(
    session: SparkSession, sink: ProgramSink, format_: type[ProgramFormat]
) -> ProgramQuery:
    physical, options = sink.physical, sink.options
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    session.conf.set("spark.sql.shuffle.partitions", str(physical.settings.parallelism))
    session.dataSource.register(format_)
    writer = (
        staged(session, physical, options, format_)
        .writeStream.outputMode("append")
        .queryName(f"{physical.name}-{options.job}")
        .option("checkpointLocation", options.checkpoint)
        .foreachBatch(sink)
    )
    if options.bounded:
        writer = writer.trigger(availableNow=True)
    return ProgramQuery(writer.start(), physical, options)


def staged(
    session: SparkSession,
    physical: Physical,
    options: ProgramOptions,
    format_: type[ProgramFormat],
) -> DataFrame:
    """Give the stages of a program as Spark's plan has them."""
    reader = session.readStream.format(format_.name()).name(_SOURCE_NAME)
    frame = reader.options(**options.to_texts()).load()
    savepoint = options.files.savepoint
    saved = str(savepoint) if (savepoint / START).exists() else ""
    for number in range(len(physical.levels)):
        if number:
            # Rows as Python gives them cannot be exchanged as they are (ClassCastException): a
            # projection that Spark cannot leave out makes them into its own.
            frame = frame.select(nullif("slot", lit(-1)).alias("slot"), "blob")
        frame = frame.groupBy("slot").applyInPandasWithState(
            Level(options.program, number, options.home, options.staging, saved),
            PACKETS_DDL,
            STATE_DDL,
            "append",
            "NoTimeout",
        )
    return frame


def _notifier(
    physical: Physical, on_progress: Callable[[Progress], None] | None
) -> Callable[[Left], None]:
    if on_progress is None:
        return lambda _: None
    return lambda left: on_progress(program_progress(left, physical, processes()))
