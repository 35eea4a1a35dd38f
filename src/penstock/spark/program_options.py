"""What Spark's workers are told about a program, as the options of a format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.model.job_settings import Guarantee, Recovery
from penstock.spark.admission import NO_LIMITS, BatchLimits
from penstock.spark.job_files import JobFiles

Until: TypeAlias = Literal["stopped", "caught up", "end", "drained"]
"""How long a program runs: until it is stopped; until it has caught up with its topics; until
their end, which closes every window; or until the batch is done that it was in."""

_TOLD = "told"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOptions:
    """Where the log, the program and its files are, and how much a batch may take."""

    home: str
    program: str
    folder: str
    job: str
    scans: tuple[tuple[str, str], ...]
    """The ids of the scans, and their topics."""
    reads_files: bool = False
    """Whether some of the topics are files beside the log."""
    clock: str = ""
    limits: BatchLimits = NO_LIMITS
    tasks: int = 1
    task_rows: int = 1
    """How many rows of a batch are worth a task of their own."""
    whole_rows: int | None = None
    """Up to how many rows the task that reads a batch does all of it; none where it never does."""
    until: Until = "stopped"
    first: tuple[tuple[str, int, int], ...] = ()
    """Topic, partition and offset up to which it is read before anything of other topics is."""
    upto: tuple[tuple[str, int, int], ...] = ()
    """Topic, partition and offset at which a run ends that does not run until it is stopped."""
    guarantee: Guarantee = "exactly-once"
    recovery: Recovery = "passive"
    latency: float = 0.0
    """Seconds that a batch should take at most; 0 where nobody said."""
    frames: str = ""
    """The folder of frames on their way from task to task; no name where they are in packets."""
    trim: bool = False
    """Whether topics are trimmed; only the process that ends batches needs to know."""

    @property
    def staging(self) -> str:
        """The folder of rows written aside, below the log's own."""
        # A standby has the job's name, and must not share what its primary throws away.
        side = "-standby" if self.files.folder.parent.name == "standby" else ""
        return f"program-{self.job}{side}"

    @property
    def files(self) -> JobFiles:
        """The files beside the checkpoint."""
        return JobFiles(Path(self.folder))

    def to_texts(self) -> dict[str, str]:
        """Give them as Spark passes options on: each would be a call of its own to the JVM."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        span = self.limits.span
        told["limits"] = {
            "rows": self.limits.rows,
            "bytes": self.limits.bytes,
            "seconds": None if span is None else span.total_seconds(),
        }
        return {_TOLD: json.dumps(told)}

    @classmethod
    def from_texts(cls, given: Mapping[str, str]) -> ProgramOptions:
        """Read what `to_texts` gave."""
        told = json.loads(given[_TOLD])
        seconds = told["limits"]["seconds"]
        told["limits"] = BatchLimits(
            rows=told["limits"]["rows"],
            bytes=told["limits"]["bytes"],
            span=None if seconds is None else timedelta(seconds=seconds),
        )
        for name in ("scans", "first", "upto"):
            told[name] = tuple(tuple(item) for item in told[name])
        return cls(**told)
