"""Versions of a job run on Spark until they have read all, or up to offsets and no further."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.log.record import TopicPartition
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.file_clock import FileClock
from penstock.spark.identity import read_identity
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import left_before, read_start
from penstock.spark.run import start


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Runs versions of jobs on the Spark of this process; topics of `first` are read first."""

    home: Path
    first: tuple[str, ...] = ()
    session: SparkSession | None = None
    clock: FileClock | None = None

    def run(
        self,
        physical: Physical,
        checkpoint: Path,
        *,
        how: JobSettings = JOB_SETTINGS,
        upto: Mapping[TopicPartition, int] | None = None,
        ends: bool = False,
        tell: Callable[[Progress], None] | None = None,
    ) -> None:
        """Let a version read all there is, or up to some offsets; `ends` closes every window."""
        identity = read_identity(current_files(checkpoint))
        start(
            physical if identity is None else identity.applied(physical),
            home=self.home,
            checkpoint=checkpoint,
            session=self.session,
            clock=self.clock,
            until="end" if ends else "caught up",
            how=how,
            on_progress=tell,
            first=self.first,
            upto=upto,
        ).await_end()

    def reached(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give the next offset of each partition that a version reads; none before its first."""
        left = left_before(current_files(checkpoint))
        return {} if left is None else dict(left.at.positions)

    def began(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give where a version began to read; none where that is not known."""
        found = read_start(current_files(checkpoint).start)
        return {} if found is None or found.left is not None else dict(found.offset.positions)

    def has_ended(self, checkpoint: Path) -> bool:
        """Whether a version has come to the end of its input and closed every window."""
        left = left_before(current_files(checkpoint))
        return left is not None and left.at.ended

    def fence(self, checkpoint: Path) -> str | None:
        """Give the id that the transactions of a version have; none where it has not run."""
        identity = read_identity(current_files(checkpoint))
        return None if identity is None else f"program-{identity.job}"
