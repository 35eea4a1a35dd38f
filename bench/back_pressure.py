"""Whether memory stays flat while more comes than a job can take, and batches keep their time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from typing_extensions import override

import penstock as ps
from bench.measure import percentile
from bench.process_memory import flat_memory, held_memory
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.windowed import EVENTS, event_rows
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import TopicConfig
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.plan.planner import plan
from penstock.spark.packet import Packet
from penstock.spark.program_sink import ProgramSink
from penstock.spark.query import ProgramQuery
from penstock.spark.run import Parts, start
from penstock.spark.session import spark_session, stop_session

_FLAT = 1.15
_LATENCY = 1.0
_METHOD = (
    "A copy of a topic whose sink takes half a second longer than it needs for each batch. Rows are"
    " appended far faster than that, in pieces of 50,000; a batch takes at most 100,000. After each"
    " batch the memory (PSS) of the driver with its Python processes and of the JVM is noted: the"
    " ratio is that of the most in the last third to the most in the third before it, and flat"
    f" means up to {_FLAT}. Then the same backlog with a sink as fast as it is and a latency of"
    " 1 s: the time of a batch is from when it was planned until its rows are ready; the first"
    " ten, from which the size is learned, are left out."
)


class _SlowSink(ProgramSink):
    """A sink that takes its time."""

    @override
    def publish(self, packets: Sequence[Packet], clock: int, number: int) -> None:
        time.sleep(0.5)
        ProgramSink.publish(self, packets, clock, number)


def run(scale: Scale) -> Result:
    """Overload a job, and then let it find the size of its batches."""
    rows = scale.of(4_000_000, 20_000)
    spark_session()
    try:
        with scale.home() as home:
            samples, written = _overloaded(home, rows)
        with scale.home() as home:
            times, sizes = _paced(home, rows)
    finally:
        stop_session()
    return Result(
        name="back_pressure",
        title="A job that is given more than it can take",
        method=_METHOD,
        scale=scale.name,
        sizes={"rows": rows},
        measures=(
            *flat_memory("driver and workers", [python for python, _ in samples], _FLAT),
            *flat_memory("JVM", [java for _, java in samples], _FLAT),
            Measure(
                label="rows lost",
                unit="rows",
                ours=(float(rows - written),),
                lower_is_better=True,
                target=Target("at most", 0),
            ),
            Measure(
                label="time of a batch, 95 %, where 1 s is allowed",
                unit="ms",
                ours=(percentile(times, 0.95),),
                lower_is_better=True,
                target=Target("at most", 1000 * _LATENCY * 1.2),
            ),
            Measure(label="rows of such a batch, median", unit="rows", ours=(sizes,)),
        ),
    )


def _overloaded(home: Path, rows: int) -> tuple[list[tuple[float, float]], int]:
    """Give MiB after each batch, and how many rows came through."""
    samples: list[tuple[float, float]] = []
    with open_log(home) as log:
        _create(log)
        feeder = threading.Thread(target=_feed, args=(log, rows))
        feeder.start()
        query = start(
            _program(),
            home=home,
            checkpoint=home / "checkpoint",
            how=JobSettings(batch_rows=100_000),
            on_progress=lambda _: samples.append(held_memory()),
            parts=Parts(sink=_SlowSink),
        )
        feeder.join()
        _await(query, rows)
        query.stop()
        return samples, _count(log, "copies")


def _paced(home: Path, rows: int) -> tuple[list[float], float]:
    told: list[tuple[float, Progress]] = []
    with open_log(home) as log:
        _create(log)
        _feed(log, rows)
        query = start(
            _program(),
            home=home,
            checkpoint=home / "checkpoint",
            how=JobSettings(latency=timedelta(seconds=_LATENCY)),
            on_progress=lambda progress: told.append((1000 * time.time(), progress)),
        )
        _await(query, rows)
        query.stop()
    settled = told[10:-1] or told
    times = [at - progress.clock for at, progress in settled]
    sizes = sorted(progress.batch_rows for _, progress in settled)
    return times, float(sizes[len(sizes) // 2])


def _create(log: EmbeddedLog) -> None:
    log.create_topic("events", schema=EVENTS, config=TopicConfig(fsync="os"))


def _program() -> Physical:
    app = ps.App("copy")
    app.stream("events", schema=EVENTS, event_time="at", lateness="2s", idle=None).to("copies")
    return plan(app.plan())


def _feed(log: EmbeddedLog, rows: int) -> None:
    piece = min(rows, 50_000)
    for number in range(rows // piece):
        log.append("events", 0, event_rows(piece, number))


def _await(query: ProgramQuery, rows: int) -> None:
    while (progress := query.progress) is None or progress.positions[0].position < rows:
        if query.error is not None:
            raise query.error
        time.sleep(0.1)
    # What a batch leaves is written before its rows are seen.
    while query.busy:
        time.sleep(0.1)


def _count(log: EmbeddedLog, topic: str) -> int:
    """Count the rows of a topic: markers of transactions take offsets, too."""
    count = 0
    for place, bound in log.snapshot([topic]).items():
        offset = bound.start
        while offset < bound.end:
            chunk = log.read(*place, offset, ReadLimit(stop=bound.end, columns=("_offset",)))
            count += chunk.rows.num_rows
            offset = chunk.next_offset
    return count
