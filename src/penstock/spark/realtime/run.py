"""Runs a program in Spark's real-time mode: each event is answered when it comes.

Batches are only how often Spark writes down how far it is. What was given since is given again
after a crash or a stop: results are at least once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK
from penstock.config import load_settings
from penstock.errors import RunError, SetupError
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import PartitionPosition, Progress
from penstock.plan.realtime import direct
from penstock.spark.failure import run_error
from penstock.spark.query import ProgramQuery, Status, processes
from penstock.spark.realtime.frame import frame_of, positions
from penstock.spark.realtime.settings import RealtimeSettings, realtime_of, require_servers
from penstock.spark.realtime.topics import require_topics

_CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_NO_SLOT = "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT"
_CHECKPOINT = timedelta(minutes=1)
_SHORTEST = timedelta(seconds=5)
_PAUSE = timedelta(seconds=1)


class RealtimeQuery(ProgramQuery):
    """One program in real-time mode."""

    def __init__(
        self,
        query: Any,  # noqa: ANN401  # as Spark has it
        physical: Physical,
        tell: Callable[[Progress], None] | None,
    ) -> None:
        self._query = query
        self._tell = tell
        self._told = -1
        self.physical = physical

    @property
    @override
    def job(self) -> str:
        return str(self._query.id)

    @property
    @override
    def status(self) -> Status:
        if self._query.isActive:
            return "running"
        return "stopped" if self._query.exception() is None else "failed"

    @property
    @override
    def busy(self) -> bool:
        # A batch in hand is as long as the time between two checkpoints: nobody waits for it.
        return False

    @property
    @override
    def progress(self) -> Progress | None:
        found = self._query.lastProgress
        return None if found is None else _progress(found)

    @property
    @override
    def error(self) -> RunError | None:
        found = self._query.exception()
        return None if found is None else _failure(found)

    @override
    def await_end(self, timeout: timedelta | None = None) -> bool:
        try:
            while not self._query.awaitTermination(round((timeout or _PAUSE).total_seconds()) or 1):
                self._report()
                if timeout is not None:
                    return False
        except Exception as error:
            raise _failure(error) from error
        return True

    def _report(self) -> None:
        progress = self.progress
        if progress is not None and progress.batch != self._told and self._tell is not None:
            self._told = progress.batch
            self._tell(progress)


def start_realtime(
    physical: Physical,
    *,
    checkpoint: Path,
    session: Callable[[], SparkSession],
    how: JobSettings,
    bounded: bool,
    on_progress: Callable[[Progress], None] | None = None,
) -> RealtimeQuery:
    """Start a program in real-time mode, or continue it; one that cannot be is refused."""
    program = direct(physical)
    _require_wishes(how, bounded=bounded)
    settings = load_settings()
    found = realtime_of(settings)
    options = _options(found)
    require_topics(program, found, settings)
    spark = session()
    _require_connector(spark)
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", str(physical.settings.parallelism))
    every = how.batch_every or _CHECKPOINT
    writer = (
        frame_of(own, program, options)
        .writeStream.format("kafka")
        .options(**options)
        .option("topic", program.output.sink.topic)
        .option("checkpointLocation", str(checkpoint.absolute() / "realtime"))
        .outputMode("update")
        .queryName(f"{physical.name}-realtime")
    )
    # Its types do not know the word yet.
    trigger: Any = writer.trigger
    try:
        timed = trigger(realTime=f"{round(1000 * every.total_seconds())} milliseconds")
        return RealtimeQuery(timed.start(), physical, on_progress)
    except Exception as error:
        raise _failure(error) from error


def _options(found: RealtimeSettings) -> dict[str, str]:
    servers = require_servers(found)
    clients = {f"kafka.{name}": value for name, value in found.kafka.items()}
    return {"kafka.bootstrap.servers": servers, **clients}


def _require_wishes(how: JobSettings, *, bounded: bool) -> None:
    """Refuse what was asked for beside real-time mode and cannot be had with it."""
    wrong = ""
    if how.guarantee != "at-least-once":
        wrong = f'guarantee = "{how.guarantee}": Spark\'s sink for Kafka may give results twice'
    elif how.recovery != "passive":
        wrong = f'recovery = "{how.recovery}": it comes back from its checkpoint'
    elif bounded:
        wrong = "an end: it runs until it is stopped"
    elif how.batch_every is not None and how.batch_every < _SHORTEST:
        wrong = "batch_every below 5 s: it is how often it writes down how far it is"
    if wrong:
        raise RunError(
            "REALTIME_SETTING",
            f"real-time mode cannot have {wrong}",
            hint='Say guarantee = "at-least-once" beside latency = "realtime", and leave out the'
            " rest; or leave out latency.",
        )


def _require_connector(session: SparkSession) -> None:
    java: Any = session.sparkContext._jvm  # noqa: SLF001  # py4j has no types
    if not java.org.apache.spark.util.Utils.classIsLoadable(_CONNECTOR):
        raise SetupError(
            "REALTIME_JARS",
            "this session has no Kafka connector of Spark's, which real-time mode needs",
            hint='Say packages = "spark" in [realtime], or jars = "FOLDER" where jars are.',
        )


def _failure(error: Exception) -> RunError:
    if _NO_SLOT in str(error):
        return RunError(
            "REALTIME_SLOTS",
            "real-time mode has too few cores: every partition it reads and every task of an"
            " operator holds one for good",
            hint='Give Spark more (spark.master = "local[4]"), or the job less (--parallelism 1).',
        )
    return run_error(error)


def _progress(found: Any) -> Progress:  # noqa: ANN401  # Spark's, which has no useful type
    source = found["sources"][0]
    ends = positions(source["latestOffset"])
    rows, millis = int(found["numInputRows"]), int(found["durationMs"].get("triggerExecution", 0))
    return Progress(
        batch=int(found["batchId"]),
        clock=SYSTEM_CLOCK.now(),
        watermark=None,
        rows_per_second=float(found["processedRowsPerSecond"] or 0.0),
        batch_rows=rows,
        batch_milliseconds=millis,
        processes=processes(),
        positions=tuple(
            PartitionPosition(*place, at, max(at, ends.get(place, at)))
            for place, at in sorted(positions(source["endOffset"]).items())
        ),
    )
