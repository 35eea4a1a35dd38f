"""What a job is meant to be: kept beside the log until it is removed, whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.model.job_settings import JOB_SETTINGS, JobSettings

Wish: TypeAlias = Literal["running", "paused", "stopped"]
"""What its owner wants of a job; its host sees to it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A job as it was submitted; times are milliseconds since 1970.

    `version` counts what was submitted under the name: the program of each is kept, so that one
    can go back. `source` is where the program was written, for people to read.
    """

    name: str
    source: str
    application: str
    owner: str
    version: int
    fingerprint: str
    created_at: int
    changed_at: int
    wish: Wish = "running"
    settings: JobSettings = JOB_SETTINGS
    checkpoint: str = ""
    bounded: bool = False
    """Whether it ends where its input ends now."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done to a job, and by whom."""

    at: int
    user: str
    what: str
    """submitted, paused, resumed, stopped, started, upgraded, rolled back, rewound, rescaled ..."""
    detail: str = ""


def checkpoint_of(home: Path, definition: Definition) -> Path:
    """Give where a job remembers how far it came."""
    return Path(definition.checkpoint) if definition.checkpoint else home / "jobs" / definition.name
