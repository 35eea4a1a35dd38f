"""What is known of a program that runs or ran: one job, made of processing elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal[
    "starting", "running", "stopping", "stopped", "finished", "failed", "lost"
]
"""Finished: its input ended. Stopped: it was asked to. Lost: its process is gone."""

ALIVE: tuple[State, ...] = ("starting", "running", "stopping")


@dataclass(frozen=True, slots=True)
class ProcessingElement:
    """A part of a job that runs by itself; 0 instances: one for each partition it reads."""

    id: str
    kind: str
    instances: int
    processes: tuple[str, ...]
    does: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A program on its way; times are milliseconds since 1970.

    An application is one or more jobs. `pid` is the process that runs it, on `host`; the
    processes of Spark are told by its progress. `fingerprint` tells its plan from others.
    """

    id: str
    name: str
    application: str
    state: State
    user: str
    host: str
    pid: int
    started_at: int
    elements: tuple[ProcessingElement, ...] = ()
    ended_at: int | None = None
    checkpoint: str = ""
    buckets: int = 0
    parallelism: int = 0
    fuse: bool = True
    fingerprint: str = ""
    failure: str = ""
    restarts: int = 0
    """How often its host has started it again before, since it was last told to run."""

    @property
    def alive(self) -> bool:
        """Whether, by its own record, it is still at work."""
        return self.state in ALIVE
