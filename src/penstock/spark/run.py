"""Runs a physical plan as one Spark query: a source, and a sink that takes batches on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from penstock.connect.results import Writer, claim_tables, stored_tables
from penstock.errors import RunError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.acknowledge import require_trimmable
from penstock.spark.admission import BatchLimits
from penstock.spark.checkpoint_check import mend_logs
from penstock.spark.cluster.executors import tasks_of
from penstock.spark.configured import configured_session
from penstock.spark.failure import run_error
from penstock.spark.file_clock import FileClock
from penstock.spark.frame_file import prepared_folder
from penstock.spark.give_up import prepare_files
from penstock.spark.handle import codecs_of
from penstock.spark.housekeeping import tidy
from penstock.spark.identity import Identified, identify, keep_identity
from penstock.spark.input_schema import require_formats, require_inputs
from penstock.spark.inputs import input_log
from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.level import Level
from penstock.spark.levels import Levels
from penstock.spark.output import ensure_topics
from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions, Until
from penstock.spark.program_progress import program_progress
from penstock.spark.program_session import program_session
from penstock.spark.program_sink import ProgramSink
from penstock.spark.program_start import start_offsets
from penstock.spark.progress_file import Left, Start, left_before, read_start, write_start
from penstock.spark.query import ProgramQuery, recent_processes
from penstock.spark.realtime.run import start_realtime
from penstock.spark.rebuild import drop_if_asked, forget, is_forgetting
from penstock.spark.registering import register_outputs
from penstock.spark.retired import require_current
from penstock.spark.standby_files import require_no_lead
from penstock.spark.state_forms import warn_of_changes
from penstock.spark.static_tables import with_static_tables
from penstock.spark.stored_program import store_program
from penstock.spark.stored_states import adopt_states
from penstock.spark.task_worth import rows_of_a_whole, rows_worth_a_task
from penstock.spark.upstream import drop_checkpoint, rebuild_from_log

_SOURCE_NAME = "inputs"


@dataclass(frozen=True, slots=True)
class Parts:
    """What a program is run with; tests put failing ones in their place."""

    format: type[ProgramFormat] = ProgramFormat
    level: type[Level] = Level
    sink: Callable[..., ProgramSink] = ProgramSink
    files: Callable[[Path], JobFiles] = current_files


PARTS = Parts()


def start(  # noqa: PLR0913  # all but the program are by name
    physical: Physical,
    *,
    home: str | Path,
    checkpoint: str | Path,
    session: SparkSession | None = None,
    bounded: bool = False,
    until: Until | None = None,
    clock: FileClock | None = None,
    how: JobSettings = JOB_SETTINGS,
    limits: BatchLimits | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    parts: Parts = PARTS,
    first: Sequence[str] = (),
    upto: Mapping[TopicPartition, int] | None = None,
) -> ProgramQuery:
    """Start a program, or continue it where its checkpoint is.

    A `bounded` one takes what its topics hold now, closes every window and ends, as
    `until="end"` says; see `spark.program_options` for others. What the topics of `first` hold is
    read before anything of the others is. One that ends by itself ends at the offsets of `upto`
    where these come first.
    """
    if how.latency == "realtime":
        return start_realtime(
            physical,
            checkpoint=Path(checkpoint),
            session=lambda: session or configured_session(),
            how=how,
            bounded=bounded or until is not None,
            on_progress=on_progress,
        )
    own_log = parts.format.log_of(str(home))
    files = _taken_files(physical, Path(checkpoint), own_log, parts)
    identified = _identified(files, physical, own_log, how)
    identity = identified.identity
    kept = identity.applied(physical)
    log = input_log(own_log, kept)
    require_inputs(log, kept)
    codecs = codecs_of(lambda: log, kept.settings.registry)
    require_formats(kept, codecs)
    register_outputs(kept, codecs)
    require_trimmable(own_log, kept, how)
    ensure_topics(log, kept)
    if how.recovery == "upstream":
        begin = partial(_first_offset, log, kept)
        identity = replace(identity, job=rebuild_from_log(files, log, kept, how.guarantee, begin))
    claim_tables(stored_tables(kept).values(), Writer(identity.job))
    _ensure_start(files, log, kept)
    lasts = until or ("end" if bounded else "stopped")
    _require_open(files, log, kept, lasts)
    warn_of_changes(identified.warnings)
    keep_identity(files, identity)
    tidy(files, home)

    def the_session() -> SparkSession:
        return session or configured_session()

    adopt_states(the_session, files, identity)
    options = ProgramOptions(
        home=str(home),
        program=str(store_program(files, with_static_tables(kept, files, the_session))),
        folder=str(files.folder),
        job=identity.job,
        scans=tuple((scan.id, scan.stream.topic) for scan in kept.scans),
        reads_files=any(scan.stream.files is not None for scan in kept.scans),
        clock="" if clock is None else str(clock.path),
        # A history comes in pieces that fit into memory.
        limits=limits or BatchLimits(rows=how.batch_rows),
        tasks=tasks_of(the_session().sparkContext),
        task_rows=rows_worth_a_task(kept),
        whole_rows=rows_of_a_whole(kept),
        until=lasts,
        # As far as they are now: what comes later takes its turn.
        first=tuple((*at, bound.end) for at, bound in log.snapshot(sorted(first)).items()),
        upto=tuple((*at, end) for at, end in (upto or {}).items()),
        guarantee=how.guarantee,
        recovery=how.recovery,
        latency=how.latency.total_seconds() if how.latency else 0.0,
        frames=prepared_folder(the_session(), identity.job),
        trim=how.trim,
    )
    own = program_session(the_session(), parts.format)
    sink = parts.sink(
        kept,
        options,
        Levels(kept, options, parts.level),
        parts.format.log_of,
        _notifier(kept, on_progress),
    )
    return _started(own, sink, parts, how)


def _started(
    session: SparkSession, sink: ProgramSink, parts: Parts, how: JobSettings
) -> ProgramQuery:
    physical, options = sink.physical, sink.options
    if options.recovery == "active":
        # A standby reads the plans of batches that it is behind; one that starts is some behind.
        session.conf.set("spark.sql.streaming.minBatchesToRetain", "100")
    session.conf.set("spark.sql.shuffle.partitions", str(physical.settings.parallelism))
    writer = (
        read(session, options, parts)
        .writeStream.outputMode("append")
        .queryName(f"{physical.name}-{options.job}")
        .option("checkpointLocation", str(options.files.spark))
        .foreachBatch(sink)
    )
    if options.until != "stopped":
        writer = writer.trigger(availableNow=True)
    elif how.batch_every is not None:
        writer = writer.trigger(
            processingTime=f"{round(1000 * how.batch_every.total_seconds())} milliseconds"
        )
    try:
        query = writer.start()
    except Exception as error:
        raise run_error(error) from error
    return ProgramQuery(query, physical, options, sink.levels)


def read(session: SparkSession, options: ProgramOptions, parts: Parts) -> DataFrame:
    """Give the reading of a program's topics, which is all that Spark plans for every batch."""
    reader = session.readStream.format(parts.format.name()).name(_SOURCE_NAME)
    return reader.options(**options.to_texts()).load()


def _taken_files(physical: Physical, checkpoint: Path, log: Log, parts: Parts) -> JobFiles:
    """Give the files of a checkpoint that nobody else works on, and nobody has given up."""
    if is_forgetting(checkpoint):
        forget(physical, log, checkpoint)
    if parts.files is current_files:
        require_no_lead(checkpoint)
    return parts.files(require_current(checkpoint))


def _identified(files: JobFiles, physical: Physical, log: Log, how: JobSettings) -> Identified:
    """Settle what the run before has left, and see whose it is."""
    drop_if_asked(physical, log, files.folder)
    if how.recovery == "upstream":
        drop_checkpoint(files, log, physical)
    mend_logs(files)
    prepare_files(files, how.guarantee)
    return identify(files, physical)


def _ensure_start(files: JobFiles, log: Log, physical: Physical) -> None:
    known = read_start(files.start)
    if known is not None:
        left = left_before(files)
        (known.offset if left is None else left.at).require_same_topics(log)
        return
    write_start(files.start, Start(_first_offset(log, physical)))


def _first_offset(log: Log, physical: Physical) -> ProgramOffset:
    topics = sorted({scan.stream.topic for scan in physical.scans})
    ids = {name: log.topic(name).topic_id for name in topics}
    return ProgramOffset(start_offsets(physical, log), ids)


def _require_open(files: JobFiles, log: Log, physical: Physical, until: Until) -> None:
    """Refuse rows for a program that has closed its windows: all of them would be late."""
    left = left_before(files)
    if left is None or not left.at.ended:
        return
    ends = {place: bound.end for place, bound in log.snapshot(left.at.topics).items()}
    if until == "stopped" or any(ends[place] > at for place, at in left.at.positions.items()):
        raise RunError(
            "PROGRAM_ENDED",
            f'program "{physical.name}" has come to the end of its input and closed every window',
            hint="Give it a new checkpoint to start over; run it without `bounded` to go on with"
            " new rows later.",
        )


def _notifier(
    physical: Physical, on_progress: Callable[[Progress], None] | None
) -> Callable[[Left], None]:
    if on_progress is None:
        return lambda _: None
    return lambda left: on_progress(program_progress(left, physical, recent_processes()))
