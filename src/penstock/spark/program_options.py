"""What Spark's workers are told about a program, as the options of a format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias, cast

from penstock.model.job_settings import Guarantee, Recovery
from penstock.spark.admission import NO_LIMITS, BatchLimits
from penstock.spark.cores import available_cores
from penstock.spark.job_files import JobFiles

Until: TypeAlias = Literal["stopped", "caught up", "end", "drained"]
"""How long a program runs: until it is stopped; until it has caught up with its topics; until
their end, which closes every window; or until the batch is done that it was in."""


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
    until: Until = "stopped"
    first: tuple[tuple[str, int, int], ...] = ()
    """Topic, partition and offset up to which it is read before anything of other topics is."""
    upto: tuple[tuple[str, int, int], ...] = ()
    """Topic, partition and offset at which a run ends that does not run until it is stopped."""
    guarantee: Guarantee = "exactly-once"
    recovery: Recovery = "passive"
    latency: float = 0.0
    """Seconds that a batch should take at most; 0 where nobody said."""
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
        """Give them as Spark passes options on."""
        limits = {
            "max_rows": self.limits.rows,
            "max_bytes": self.limits.bytes,
            "max_seconds": None if self.limits.span is None else self.limits.span.total_seconds(),
        }
        return {
            "home": self.home,
            "program": self.program,
            "folder": self.folder,
            "job": self.job,
            "scans": json.dumps(self.scans),
            "reads_files": str(self.reads_files),
            "clock": self.clock,
            "tasks": str(self.tasks),
            "task_rows": str(self.task_rows),
            "until": self.until,
            "first": json.dumps(self.first),
            "upto": json.dumps(self.upto),
            "guarantee": self.guarantee,
            "recovery": self.recovery,
            "latency": str(self.latency),
            **{name: str(value) for name, value in limits.items() if value is not None},
        }

    @classmethod
    def from_texts(cls, given: Mapping[str, str]) -> ProgramOptions:
        """Read what `to_texts` gave."""
        rows, size, seconds = (given.get(name) for name in ("max_rows", "max_bytes", "max_seconds"))
        return cls(
            home=given["home"],
            program=given["program"],
            folder=given["folder"],
            job=given["job"],
            scans=tuple((scan, topic) for scan, topic in json.loads(given["scans"])),
            reads_files=given["reads_files"] == "True",
            clock=given.get("clock", ""),
            limits=BatchLimits(
                rows=None if rows is None else int(rows),
                bytes=None if size is None else int(size),
                span=None if seconds is None else timedelta(seconds=float(seconds)),
            ),
            tasks=int(given.get("tasks", available_cores())),
            task_rows=int(given.get("task_rows", "1")),
            until=cast(Until, given["until"]),
            first=tuple(
                (topic, partition, end)
                for topic, partition, end in json.loads(given.get("first", "[]"))
            ),
            upto=tuple(
                (topic, partition, end)
                for topic, partition, end in json.loads(given.get("upto", "[]"))
            ),
            guarantee=cast(Guarantee, given.get("guarantee", "exactly-once")),
            recovery=cast(Recovery, given.get("recovery", "passive")),
            latency=float(given.get("latency", "0")),
        )
