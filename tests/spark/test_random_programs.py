"""Random programs give on Spark, batch by batch, the very rows that the kernel gives."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from typing_extensions import override

from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TAKEN, Time
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.progress import Progress
from penstock.plan.planner import plan
from penstock.schema.arrow import to_arrow
from penstock.spark.admission import BatchLimits
from penstock.spark.failpoints import FAILING
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.run import PARTS, Parts, start
from penstock.testing.outbox import Outbox
from penstock.testing.strategies import disordered_rows
from tests.properties.chains import COLUMNS, DISORDER, NAMES, Oracle, Row, Step, chains, ordered
from tests.spark.programs import stored_rows

PROGRAMS = 5
ROWS_A_BATCH = 6
PHASES = (Phase.generate,)  # an example takes seconds: none is made smaller
CALM = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
)
ROWS = disordered_rows(
    {
        "k": st.one_of(st.integers(0, 4), st.none()),
        "g": st.integers(0, 2),
        "n": st.one_of(st.integers(-9, 9), st.none()),
    },
    disorder=DISORDER,
    step=2_500,
    max_rows=24,
).filter(lambda rows: len(rows) > 2 * ROWS_A_BATCH)


@dataclass(frozen=True, repr=False)
class Programs:
    """Some programs; what is shown of them is what they amount to."""

    steps: tuple[Step, ...]

    @override
    def __repr__(self) -> str:
        return "\n".join(step.sql for step in self.steps)


STEPS = st.lists(chains(), min_size=PROGRAMS, max_size=PROGRAMS).map(
    lambda steps: Programs(tuple(steps))
)
SETTINGS = st.builds(
    Settings,
    buckets=st.sampled_from([2, 5]),
    parallelism=st.sampled_from([1, 2]),
    fuse=st.booleans(),
    preaggregate=st.booleans(),
)
# Nobody lets them fail: of the others every other batch is one task's, of the first each.
RUN_WITH = st.sampled_from([PARTS, FAILING])


@pytest.mark.spark
@pytest.mark.timeout(600)
@given(STEPS, ROWS, SETTINGS, RUN_WITH)
@settings(max_examples=3, phases=PHASES, suppress_health_check=CALM)
def test_random_programs_give_on_spark_what_the_kernel_gives(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    programs: Programs,
    rows: list[Row],
    how: Settings,
    parts: Parts,
) -> None:
    check(spark, tmp_path_factory.mktemp("random"), programs.steps, rows, (how, parts))


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.timeout(0)
@given(STEPS, ROWS, SETTINGS, RUN_WITH)
@settings(max_examples=300, phases=PHASES, suppress_health_check=CALM)
def test_1500_random_programs_give_on_spark_what_the_kernel_gives(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    programs: Programs,
    rows: list[Row],
    how: Settings,
    parts: Parts,
) -> None:
    check(spark, tmp_path_factory.mktemp("random"), programs.steps, rows, (how, parts))


def check(
    spark: SparkSession,
    folder: Path,
    steps: Sequence[Step],
    rows: list[Row],
    run_with: tuple[Settings, Parts],
) -> None:
    """Run several programs as one on Spark, and each batch again without it."""
    how, parts = run_with
    sinks = tuple(Sink(step.relation, f"out{number}") for number, step in enumerate(steps))
    physical = plan(Plan("random", sinks), how)
    clock = FileClock(folder / "clock")
    clock.set(1_000_000)

    def go_on(progress: Progress) -> None:
        clock.set(1_000_000 + 700 * (progress.batch + 1))

    with open_log(folder / "home") as log:
        log.create_topic("in", partitions=2, schema=to_arrow(COLUMNS))
        for partition in range(2):
            log.append("in", partition, pa.Table.from_pylist(rows[partition::2], to_arrow(COLUMNS)))
        start(
            physical,
            home=folder / "home",
            checkpoint=folder / "job",
            session=spark,
            bounded=True,
            clock=clock,
            limits=BatchLimits(rows=ROWS_A_BATCH),
            on_progress=go_on,
            parts=parts,
        ).await_end()
        kernel = repeated(physical, log, current_files(folder / "job"))
        oracle = Oracle()
        for step, sink in zip(steps, sinks, strict=True):
            found = stored_rows(log, sink.topic)
            wanted = kernel.rows(sink.topic, kernel.frame(sink.topic))
            assert Counter(map(str, found)) == Counter(map(str, wanted)), step.sql
            table = [
                tuple(row[name] for name in NAMES) for row in kernel.table(sink.topic).to_dicts()
            ]
            assert ordered(table) == oracle.answer(step, rows), step.sql


def repeated(physical: Physical, log: EmbeddedLog, files: JobFiles) -> Outbox:
    """Do the batches that Spark has noted, each with its rows and its clock, in this process."""
    machine, outbox = Program(physical), Outbox(physical.outputs)
    memory: Memory | None = None
    before: dict[Any, int] = {}
    for offset in noted(files):
        assert offset.marks is not None
        if memory is None:
            marks = Watermarks.start(physical.scans, offset.marks["started_at"])
            memory = Memory(marks, Time(START_OF_TIME, 0))
        arrivals = [
            Arrival((scan.id, place.partition), frame.select(*scan_columns(frame, scan.columns)))
            for scan in physical.scans
            for place, end in sorted(offset.positions.items())
            if (frame := read(log, place.partition, before.get(place, 0), end)).height
        ]
        ends = {
            (scan.id, place.partition): END_OF_TIME
            for scan in physical.scans
            for place in offset.positions
            if offset.ended
        }
        done = run_batch(machine, memory, Input(offset.clock, arrivals, ends))
        memory, before = done.memory, dict(offset.positions)
        outbox.put(done.parcels)
    return outbox


def noted(files: JobFiles) -> Iterator[ProgramOffset]:
    """Give the offsets after each batch, out of Spark's offset log."""
    for number in range(files.committed + 1):
        lines = (files.spark / "offsets" / str(number)).read_text().splitlines()
        _, _, found = lines[-1].partition("inputs:")
        yield ProgramOffset.from_json(json.loads(found))


def scan_columns(frame: pl.DataFrame, columns: tuple[str, ...]) -> list[str]:
    return [name for name in frame.columns if name in (*columns, "at", TAKEN)]


def read(log: EmbeddedLog, partition: int, first: int, end: int) -> pl.DataFrame:
    parts = []
    while first < end:
        chunk = log.read("in", partition, first, ReadLimit(stop=end))
        parts.append(pl.DataFrame(pl.from_arrow(chunk.rows)))
        first = chunk.next_offset
    if not parts:
        return pl.DataFrame()
    return pl.concat(parts).rename({"_timestamp": TAKEN}).select(*COLUMNS.names, TAKEN)
