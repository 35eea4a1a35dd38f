"""One run of a job in a crash test: a log with its rows, a checkpoint and a clock of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa

from penstock.connect.results import stored_tables
from penstock.errors import UsageError
from penstock.jobs.settings_document import read_settings, settings_document
from penstock.kernel.port import WEIGHT
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.record import OFFSET_COLUMN, TIMESTAMP_COLUMN
from penstock.log.stretch import tables_between
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Account, Progress
from penstock.model.source import Stream
from penstock.schema.arrow import to_arrow
from penstock.schema.schema import Field, Schema
from penstock.spark.admission import BatchLimits
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.output import outlets
from penstock.spark.program_progress import program_progress
from penstock.spark.progress_file import left_before
from penstock.spark.run import PARTS, Parts, start
from penstock.spark.stored_program import program_bytes, program_of
from penstock.testing.pushed import Pushed, as_frames, as_records, listed
from penstock.testing.told import stored_schema

Row: TypeAlias = dict[str, Any]
Written: TypeAlias = dict[str, list[Row]]
"""The records of each topic that a job writes, by partition, without their offsets."""

PARTITIONS = 2
"""Of every topic that the job reads."""
_BEGIN = 1_700_000_000_000
_TICK = 1000
_PROGRAM, _OPTIONS = "program.pickle", "run.json"


@dataclass(frozen=True, slots=True)
class CrashRun:
    """A job below a folder, over rows that are there from its start."""

    folder: Path
    physical: Physical
    batch_rows: int
    how: JobSettings
    tables: Mapping[str, Sequence[pa.Table]] = field(default_factory=dict)
    """What each partition of each topic holds."""

    @property
    def home(self) -> Path:
        """Where its log is."""
        return self.folder / "home"

    @property
    def checkpoint(self) -> Path:
        """Where it remembers how far it came."""
        return self.folder / "job"

    @property
    def clock(self) -> FileClock:
        """The clock it reads: a second a batch."""
        return FileClock(self.folder / "clock")

    @property
    def committed(self) -> int:
        """The last batch that it has done."""
        return current_files(self.checkpoint).committed

    @property
    def left_undone(self) -> bool:
        """Whether it has not come to its end."""
        files = current_files(self.checkpoint)
        left = left_before(files)
        return left is None or not left.at.ended or files.begun > files.committed

    def beside(self, name: str) -> CrashRun:
        """Give another run over the same rows, in a folder beside this one."""
        run = replace(self, folder=self.folder.parent / name)
        run.write()
        return run

    def write(self) -> None:
        """Put its rows, its clock and its program where it finds them."""
        self.folder.mkdir(parents=True)
        self.clock.set(_BEGIN)
        with open_log(self.home) as log:
            for topic, tables in self.tables.items():
                schema = _schema(self.physical, topic)
                log.create_topic(topic, partitions=PARTITIONS, schema=schema)
                for partition, table in enumerate(tables):
                    if table.num_rows:
                        log.append(topic, partition, table)
        (self.folder / _PROGRAM).write_bytes(program_bytes(self.physical))
        told = {"batch_rows": self.batch_rows, "how": settings_document(self.how)}
        (self.folder / _OPTIONS).write_text(json.dumps(told), encoding="utf-8")

    def run(
        self,
        session: Any = None,  # noqa: ANN401  # Spark's, which only its room knows
        parts: Parts = PARTS,
        on_batch: Callable[[int], None] = lambda _: None,
    ) -> Written:
        """Run it to its end, and give what it has written; a failure is raised."""

        def tell(progress: Progress) -> None:
            # A time for each batch, the same when it is run again.
            self.clock.set(_BEGIN + _TICK * (progress.batch + 1))
            on_batch(progress.batch)

        query = start(
            self.physical,
            home=self.home,
            checkpoint=self.checkpoint,
            session=session,
            bounded=True,
            clock=self.clock,
            how=self.how,
            limits=BatchLimits(rows=self.batch_rows),
            on_progress=tell,
            parts=parts,
        )
        query.await_end()
        return self.written()

    def written(self) -> Written:
        """Give all that it has written to topics: results, late rows and dead letters."""
        topics = sorted({outlet.topic for outlet in outlets(self.physical).values()})
        with open_log(self.home) as log:
            known = set(log.topics())
            return {topic: _records(log, topic) if topic in known else [] for topic in topics}

    def accounts(self) -> tuple[Account, ...]:
        """Give how many rows each of its steps has taken, given and put aside."""
        left = left_before(current_files(self.checkpoint))
        return () if left is None else program_progress(left, self.physical).accounts

    def command(self, ready: Path) -> list[str]:
        """Give the command line that runs it; it makes the file `ready` when it is at work."""
        # What a killed Spark leaves behind goes with the test.
        python = ["env", f"TMPDIR={self.folder}", sys.executable]
        return [*python, "-m", "penstock.testing.crash_child", str(self.folder), str(ready)]


def prepared(
    physical: Physical, rows: Mapping[str, Pushed], folder: Path, batches: int, how: JobSettings
) -> CrashRun:
    """Give a run of a job over rows, which come in so many batches."""
    _require_topics_only(physical)
    tables = {topic: _tables(physical, topic, rows.get(topic, ())) for topic in _inputs(physical)}
    for topic in rows:
        if topic not in tables:
            raise UsageError(
                "CRASH_TOPIC",
                f'the job does not read topic "{topic}"',
                hint=f"It reads {', '.join(tables)}.",
            )
    total = sum(table.num_rows for parts in tables.values() for table in parts)
    run = CrashRun(folder, physical, max(1, ceil(total / batches)), how, tables)
    run.write()
    return run


def load_run(folder: Path) -> CrashRun:
    """Give the run that another process has prepared."""
    told = json.loads((folder / _OPTIONS).read_text(encoding="utf-8"))
    physical = program_of((folder / _PROGRAM).read_bytes())
    return CrashRun(folder, physical, told["batch_rows"], read_settings(told["how"]))


def _inputs(physical: Physical) -> dict[str, None]:
    return dict.fromkeys(scan.stream.topic for scan in physical.scans)


def _streams(physical: Physical, topic: str) -> list[Stream]:
    return [scan.stream for scan in physical.scans if scan.stream.topic == topic]


def _schema(physical: Physical, topic: str) -> pa.Schema | None:
    """Give the columns of a topic: all that its readers ask for; none where it holds bytes."""
    streams = _streams(physical, topic)
    if any(stream.format is not None for stream in streams):
        return None
    fields: dict[str, Field] = {}
    for stream in streams:
        fields |= {item.name: item for item in stored_schema(stream).fields}
    return to_arrow(Schema(tuple(fields.values())))


def _tables(physical: Physical, topic: str, rows: Pushed) -> list[pa.Table]:
    """Deal rows out over the partitions of a topic."""
    schema, given = _schema(physical, topic), listed(rows)
    if schema is None:
        records = as_records(given, _BEGIN)
        if records is None and given != []:
            raise UsageError(
                "CRASH_BYTES",
                f'topic "{topic}" holds bytes, and rows are given',
                hint="Give the values of its records, or whole records.",
            )
        whole = pa.table({}) if records is None else records
    else:
        # Refuses columns that no reader has.
        as_frames(given, _streams(physical, topic))
        dicts = [dict(row) for row in _dicts(given)]
        if WEIGHT in schema.names:
            dicts = [{WEIGHT: 1, **row} for row in dicts]
        stamps = pa.array([_BEGIN] * len(dicts), pa.int64())
        whole = pa.Table.from_pylist(dicts, schema).append_column(TIMESTAMP_COLUMN, stamps)
    return [
        whole.take(pa.array(range(number, whole.num_rows, PARTITIONS), pa.int64()))
        for number in range(PARTITIONS)
    ]


def _dicts(given: Any) -> list[Row]:  # noqa: ANN401  # rows in any of the forms that are pushed
    if isinstance(given, pl.DataFrame):
        return given.to_dicts()
    if isinstance(given, pa.Table | pa.RecordBatch):
        found: list[Row] = given.to_pylist()
        return found
    return list(given)


def _records(log: Log, topic: str) -> list[Row]:
    found: list[Row] = []
    for place, bound in sorted(log.snapshot([topic]).items()):
        for table in tables_between(log, place, bound.start, bound.end):
            found += table.to_pylist()
    for row in found:
        # A transaction that was given up leaves a gap in the offsets.
        row.pop(OFFSET_COLUMN, None)
    return found


def _require_topics_only(physical: Physical) -> None:
    files = [scan.stream.topic for scan in physical.scans if scan.stream.files is not None]
    stores = list(stored_tables(physical))
    if files or stores:
        raise UsageError(
            "CRASH_OUTSIDE",
            f'job "{physical.name}" reads or writes outside the log: {", ".join(files + stores)}',
            hint="Crash tests have a log of their own: let the job read and write topics there.",
        )
