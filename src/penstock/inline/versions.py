"""Versions of a job run in this process until they have read all, or up to given offsets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.inputs import input_log
from penstock.spark.job_files import write_durably
from penstock.spark.program_start import start_offsets

_REACHED, _BEGAN = "reached.json", "began.json"
_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class InlineEngine:
    """Runs versions of jobs without Spark; `prepare` is called before the first run of one."""

    home: Path
    prepare: Callable[[Physical, Path], None] = lambda _physical, _checkpoint: None

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
        del tell, how
        checkpoint.mkdir(parents=True, exist_ok=True)
        if not (checkpoint / _BEGAN).exists():
            with open_log(self.home) as log:
                began = start_offsets(physical, input_log(log, physical))
            self.prepare(physical, checkpoint)
            _write(checkpoint / _BEGAN, began)
        options = InlineOptions(
            rows=_ROWS, guarantee="exactly-once", until="end" if ends else "caught up", upto=upto
        )
        run = InlineRun(physical, home=self.home, checkpoint=checkpoint, options=options)
        run.on_stored = lambda offsets: _write(checkpoint / _REACHED, offsets)
        run.run()

    def reached(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give the next offset of each partition that a version reads; none before its first."""
        return _read(checkpoint / _REACHED)

    def began(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give where a version began to read; none where that is not known."""
        return _read(checkpoint / _BEGAN)

    def has_ended(self, checkpoint: Path) -> bool:
        """Whether a version has closed every window: none of these does for good."""
        del checkpoint
        return False

    def fence(self, checkpoint: Path) -> str | None:
        """Give the id that the transactions of a version have; none where it has not run."""
        return f"inline-{checkpoint.name}" if self.reached(checkpoint) else None


def _write(path: Path, offsets: Mapping[TopicPartition, int]) -> None:
    told = [[at.topic, at.partition, offset] for at, offset in offsets.items()]
    write_durably(path, json.dumps(told).encode())


def _read(path: Path) -> dict[TopicPartition, int]:
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return {TopicPartition(topic, partition): offset for topic, partition, offset in told}
